"""Who belongs where, as the person and as the organization may see it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select

from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import organizations, roles, sessions
from thenga.domains.identity.services.roles import Right
from thenga.domains.identity.tables import Membership, MembershipStatus
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Forbidden

HOLDERS_MOST = 200
# Who has not joined yet comes last when sorted by the day.
_NEVER = sa.literal_column("TIMESTAMPTZ '2999-12-31 00:00:00Z'", sa.DateTime(timezone=True))
SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "displayName": Membership.display_name,
    "joinedAt": sa.func.coalesce(Membership.joined_at, _NEVER),
}


@dataclass(frozen=True)
class Shown:
    """A membership with the codes of the roles that are in force."""

    membership: Membership
    role_codes: list[str] = field(default_factory=list)
    last_active_at: datetime | None = None  # told to whoever sees the list of members
    organization_name: str | None = None  # where a person finds their organizations


async def get(read: Reader, membership_id: UUID) -> Shown:
    """One membership: of the organization, or the caller's own."""
    membership = await read.get(Membership, membership_id)
    name = await organizations.organization_name(read, membership.organization_id)
    return replace(await shown(read, membership), organization_name=name)


async def shown(read: Reader, membership: Membership) -> Shown:
    """A membership with its roles, read in the organization that it is in."""
    await read.enter_organization(membership.organization_id)
    tenant = await organizations.find_organization(read)
    codes = await roles.role_codes_of(read, [membership.id], tenant.now)
    return Shown(membership, codes.get(membership.id, []))


async def list_own(
    read: Reader, paged: Paged, *, status: MembershipStatus | None
) -> tuple[Sequence[Shown], str | None]:
    """Where the caller belongs, with the roles in force there. A key belongs nowhere."""
    if read.actor.kind is ActorKind.API_KEY:
        return [], None
    statement = select(Membership).where(Membership.user_id == read.user_id)
    if status is not None:
        statement = statement.where(Membership.status == status.value)
    page = await read.page(statement, paged)
    codes = await roles.own_role_codes(read.host, read.user_id, [one.id for one in page.items])
    names = await organizations.organization_names(
        read, {membership.organization_id for membership in page.items}
    )
    items = [
        Shown(
            membership,
            codes.get(membership.id, []),
            organization_name=names.get(membership.organization_id),
        )
        for membership in page.items
    ]
    return items, page.next_cursor


async def list_members(
    read: Reader,
    paged: Paged,
    *,
    status: MembershipStatus | None,
    role_code: str | None,
    q: str | None,
    holding: str | None,
    aal2_ready: bool | None,
) -> tuple[Sequence[Shown], str | None]:
    """The members of the organization; without a status, all who were not removed."""
    if not read.has_organization:
        # Whoever belongs here and has no role for it holds the permission over their own only.
        raise Forbidden(
            "You need a role in this organization to see its members. An owner can give you one.",
            action=Permission.MEMBERSHIP_READ,
            reasonCode="permission_missing",
            remedy={"kind": "ask_role", "roles": ["owner", "administrator", "viewer"]},
        )
    statement = select(Membership).where(Membership.organization_id == read.organization_id)
    if status is not None:
        statement = statement.where(Membership.status == status.value)
    else:
        statement = statement.where(Membership.status != MembershipStatus.REMOVED.value)
    if role_code is not None:
        statement = statement.where(roles.has_role_clause(role_code, read.now))
    if q is not None:
        statement = statement.where(
            sa.func.starts_with(sa.func.lower(Membership.display_name), q.lower())
        )
    if holding is not None:
        statement = statement.where(
            Membership.status == MembershipStatus.ACTIVE.value,
            roles.holders(read, holding, read.now),
        )
    if aal2_ready is not None:
        statement = statement.where(Membership.aal2_ready.is_(aal2_ready))
    return await _with_cards(read, await read.page(statement, paged, SORTS[paged.sort]))


async def _with_cards(read: Reader, page: Slice[Membership]) -> tuple[Sequence[Shown], str | None]:
    codes = await roles.role_codes_of(read, [one.id for one in page.items], read.now)
    active = await sessions.last_active(read, [one.user_id for one in page.items])
    items = [Shown(one, codes.get(one.id, []), active.get(one.user_id)) for one in page.items]
    return items, page.next_cursor


async def holding(
    read: Reader,
    *,
    permission: str | None,
    role_code: str | None,
    limit: int,
    after: UUID | None = None,
) -> list[UUID]:
    """The people of the organization who hold a permission or a role, at most so many.

    They come in the order of their ids; `after` goes on behind the last one of the call before.
    """
    statement = select(Membership.user_id).where(
        Membership.organization_id == read.organization_id,
        Membership.status == MembershipStatus.ACTIVE.value,
    )
    if permission is not None:
        statement = statement.where(roles.holders(read, permission, read.now))
    if role_code is not None:
        statement = statement.where(roles.has_role_clause(role_code, read.now))
    if after is not None:
        statement = statement.where(Membership.user_id > after)
    return await read.values(statement.order_by(Membership.user_id), limit=min(limit, HOLDERS_MOST))


async def effective(read: Reader, membership_id: UUID) -> list[Right]:
    """What a member may do here and now; who is not active may do nothing."""
    membership = await read.get(Membership, membership_id)
    if membership.status is not MembershipStatus.ACTIVE:
        return []
    await read.enter_organization(membership.organization_id)
    tenant = await organizations.find_organization(read)
    return await roles.rights_of_member(read, membership_id, tenant.now)
