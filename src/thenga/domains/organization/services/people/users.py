"""Organization users: what the company says of those who work in it; who they are, Identity knows.

Names and addresses are asked of Identity when they are shown, one question a page, and stored
nowhere (ORG-31).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, any_, exists, literal, select

from thenga.domains.identity import public as identity
from thenga.domains.organization import public
from thenga.domains.organization.services import facts, records
from thenga.domains.organization.tables import MemberRef, MemberStatus, OrganizationUser
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable, NotFound, RuleViolated

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None}
_ONCE = "This person already has a profile. Change that one."


@dataclass(frozen=True)
class Described:
    """Somebody of the company: the reference, what the company says, and what Identity knows."""

    ref: MemberRef
    user: OrganizationUser | None
    card: identity.PersonCard | None
    live: bool  # whether Identity answered

    def profiled(self) -> OrganizationUser:
        assert self.user is not None  # noqa: S101  # it was read or written just now
        return self.user


async def add_user(
    work: Work,
    *,
    membership_id: UUID | None,
    invitation_id: UUID | None,
    fields: dict[str, Any],
) -> Described:
    """Say something of a member or of somebody who is invited."""
    if (membership_id is None) == (invitation_id is None):
        raise RuleViolated("Name a membership or an invitation, not both.", rule="ORG-31")
    ref = await facts.known(work, membership_id=membership_id, invitation_id=invitation_id)
    (described,) = await _describe(work, [(ref, None)])
    user = OrganizationUser(
        organization_id=work.organization_id, member_ref_id=ref.id, status=ref.status, **fields
    )
    _check(user)
    with records.once(_ONCE, field="membershipId"):
        given = await records.add(work, user)
    work.publish(_changed(user, "added", given))
    return Described(ref, user, described.card, described.live)


async def list_users(
    read: Reader,
    paged: Paged,
    *,
    status: MemberStatus | None,
    bid_role: str | None,
    profiled: bool | None,
    archived: bool,
) -> tuple[Slice[MemberRef], dict[UUID, Described]]:
    """Everybody of the company, with what it says of them or nothing; one question to Identity."""
    statement = select(MemberRef)
    statement = where_given(statement, (MemberRef.status, status))
    said = _said(archived)
    if bid_role is not None:
        said = and_(said, literal(bid_role) == any_(OrganizationUser.bid_roles))
    if bid_role is not None or profiled or archived:
        statement = statement.where(exists().where(said))
    elif profiled is False:
        statement = statement.where(~exists().where(said))
    found = await read.page(statement, paged, SORTS[paged.sort])
    users = await read.all(
        records.kept(OrganizationUser, archived=archived).where(
            among(OrganizationUser.member_ref_id, [ref.id for ref in found.items])
        )
    )
    by_ref = {user.member_ref_id: user for user in users}
    described = await _describe(read, [(ref, by_ref.get(ref.id)) for ref in found.items])
    return found, {one.ref.id: one for one in described}


async def get_user(read: Reader, organization_user_id: UUID) -> Described:
    """What is said of one person."""
    mine = select(OrganizationUser.member_ref_id).where(
        OrganizationUser.organization_id == read.organization_id,
        OrganizationUser.id == organization_user_id,
    )
    # The reference is read first: what is said of somebody is never older than their status.
    refs = await read.all(select(MemberRef).where(MemberRef.id == mine.scalar_subquery()))
    if not refs:
        raise NotFound()
    user = await read.get(OrganizationUser, organization_user_id)
    (described,) = await _describe(read, [(refs[0], user)])
    return described


async def change_user(
    work: Work, organization_user_id: UUID, *, fields: dict[str, Any]
) -> Described:
    """Change the fields named; the rest stays."""
    described = await get_user(work, organization_user_id)
    user = await work.lock(OrganizationUser, organization_user_id)
    records.not_archived(user)
    merge_patch(user, fields)
    _check(user)
    changed = await records.save(work, user)
    if changed:
        work.publish(_changed(user, "updated", changed))
    return Described(described.ref, user, described.card, described.live)


async def archive_user(work: Work, organization_user_id: UUID) -> None:
    """Take it out of the lists; the person still belongs to the company."""
    user = await work.lock(OrganizationUser, organization_user_id)
    changed = await records.archive(work, user)
    if changed:
        work.publish(_changed(user, "archived", changed))


async def refresh_user(work: Work, ref: MemberRef | None) -> None:
    """What Identity told of somebody counts for what we say of them: who left signs no more."""
    if ref is None:
        return
    user = await _profile_of(work, ref.id)
    if user is None:
        return
    user.status = ref.status
    if ref.status is MemberStatus.LEFT:
        user.signing_authority = None
    changed = await records.save(work, user)
    if changed:
        work.publish(_changed(user, "followed", changed))


async def accept_user(
    work: Work, *, invitation_id: UUID, membership_id: UUID, user_id: UUID
) -> None:
    """Whoever was invited is a member now; what was said of the invited is said of the member."""
    kept, gone = await facts.join(
        work, invitation_id=invitation_id, membership_id=membership_id, user_id=user_id
    )
    if gone is not None:
        twice = await _profile_of(work, kept.id) is not None
        for user in await _all_of(work, gone.id):
            user.member_ref_id, user.status = kept.id, kept.status
            if twice and user.archived_at is None:
                user.archived_at = work.now
            changed = await records.save(work, user)
            work.publish(_changed(user, "followed", changed))
        await facts.replace(work, kept, gone)
    await refresh_user(work, kept)


def signs_on(user: OrganizationUser, today: date) -> bool:
    """Whether the person may sign on a day."""
    authority = user.signing_authority
    if authority is None or user.status is not MemberStatus.ACTIVE:
        return False
    first, last = authority.get("valid_from"), authority.get("valid_to")
    return (first is None or first <= today.isoformat()) and (
        last is None or today.isoformat() <= last
    )


async def _profile_of(work: Work, member_ref_id: UUID) -> OrganizationUser | None:
    said = records.kept(OrganizationUser, archived=False)
    found = await work.all(said.where(OrganizationUser.member_ref_id == member_ref_id), limit=1)
    return await work.lock(OrganizationUser, found[0].id) if found else None


async def _all_of(work: Work, member_ref_id: UUID) -> list[OrganizationUser]:
    same = select(OrganizationUser).where(OrganizationUser.member_ref_id == member_ref_id)
    return [await work.lock(OrganizationUser, user.id) for user in await work.all(same)]


async def _describe(
    read: Reader, pairs: Sequence[tuple[MemberRef, OrganizationUser | None]]
) -> list[Described]:
    """One question to Identity for everybody; its silence leaves the names out."""
    wanted = [ref.user_id for ref, _ in pairs if ref.user_id is not None]
    cards: dict[UUID, identity.PersonCard] = {}
    live = True
    if wanted:
        try:
            told = await read.port(identity.People).describe(user_ids=wanted)
            cards = {card.user_id: card for card in told}
        except DependencyUnavailable:
            live = False
    return [
        Described(ref, user, cards.get(ref.user_id) if ref.user_id else None, live)
        for ref, user in pairs
    ]


def _said(archived: bool) -> ColumnElement[bool]:
    ended = OrganizationUser.archived_at
    return and_(
        OrganizationUser.organization_id == MemberRef.organization_id,
        OrganizationUser.member_ref_id == MemberRef.id,
        ended.is_not(None) if archived else ended.is_(None),
    )


def _check(user: OrganizationUser) -> None:
    authority = user.signing_authority
    if "signatory" in user.bid_roles and authority is None:
        raise RuleViolated("A signatory needs `signingAuthority`.", rule="ORG-31")
    if authority is not None and authority["valid_to"] is not None:
        records.in_order(
            date.fromisoformat(authority["valid_from"]), date.fromisoformat(authority["valid_to"])
        )


def _changed(
    user: OrganizationUser, change: str, fields: list[str]
) -> public.OrganizationUserChanged:
    return public.OrganizationUserChanged(
        organization_id=user.organization_id,
        record_id=user.id,
        record_version=user.version,
        change=change,
        changed_fields=fields,
        status=user.status,
    )
