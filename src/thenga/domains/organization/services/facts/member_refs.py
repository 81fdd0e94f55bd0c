"""Who is invited and who belongs, as Identity's events tell it: references, no names (ORG-31)."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.organization.tables import MemberRef, MemberStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, extensions

# A pending membership waits for the person's yes; an inactive one may come back, and until then
# the person signs nothing.
_STATUSES = {
    "pending": MemberStatus.INVITED,
    "active": MemberStatus.ACTIVE,
    "inactive": MemberStatus.LEFT,
    "removed": MemberStatus.LEFT,
}


class UnknownMembership(Problem):
    """No one in this organization has this membership or invitation.

    Invite the person with `POST /identity/invitations`, then use the ID that it returns.
    """

    code, status, title = (
        "organization-unknown-membership",
        422,
        "Unknown membership or invitation",
    )
    members = extensions(remedy=(dict[str, Any], "How to add the person."))


@dataclass(frozen=True)
class Ownership:
    """Whether the company has an owner already, and how many."""

    status: Literal["pending", "confirmed"]
    owner_count: int


async def known(
    read: Reader, *, membership_id: UUID | None, invitation_id: UUID | None
) -> MemberRef:
    """Whoever a request names; one of another organization is as unknown as none at all."""
    found = None
    if membership_id is not None:
        found = await read.find(MemberRef, membership_id=membership_id)
    elif invitation_id is not None:
        found = await read.find(MemberRef, invitation_id=invitation_id)
    if found is None:
        raise _unknown()
    return found


async def require(read: Reader, user_id: UUID | None) -> None:
    """Refuse a reference to a person who does not belong to this organization."""
    if user_id is not None and not await belongs(read, user_id):
        raise _unknown()


async def belongs(read: Reader, user_id: UUID | None) -> bool:
    """Whether a person belongs to this organization now."""
    here = select(MemberRef).where(
        MemberRef.user_id == user_id, MemberRef.status != MemberStatus.LEFT
    )
    return user_id is not None and bool(await read.all(here, limit=1))


async def ownership_of(read: Reader) -> Ownership:
    """Pending until Identity has named an owner (ORG-2)."""
    owners = select(func.count()).where(
        MemberRef.organization_id == read.organization_id,
        MemberRef.owner.is_(True),
        MemberRef.status == MemberStatus.ACTIVE,
    )
    count = await read.value(owners) or 0
    return Ownership("confirmed" if count else "pending", count)


async def follow_membership(
    work: Work, *, membership_id: UUID, user_id: UUID, status: str, owner: bool, sequence: int
) -> MemberRef | None:
    """Take over what Identity told of a membership; None where something newer is known."""
    found = await work.find(MemberRef, membership_id=membership_id)
    if found is None:
        return await work.add(
            MemberRef(
                organization_id=work.organization_id,
                membership_id=membership_id,
                user_id=user_id,
                status=_STATUSES[status],
                membership_status=status,
                owner=owner,
                source_sequence=sequence,
            )
        )
    held = await work.lock(MemberRef, found.id)
    if sequence <= held.source_sequence:
        return None
    held.user_id, held.status = user_id, _STATUSES[status]
    held.membership_status, held.owner, held.source_sequence = status, owner, sequence
    return await work.save(held)


async def follow_invitation(
    work: Work, *, invitation_id: UUID, status: MemberStatus
) -> MemberRef | None:
    """Take over that somebody was invited, or that the invitation ended unanswered."""
    found = await work.find(MemberRef, invitation_id=invitation_id)
    if found is None:
        return await work.add(
            MemberRef(
                organization_id=work.organization_id, invitation_id=invitation_id, status=status
            )
        )
    held = await work.lock(MemberRef, found.id)
    if held.membership_id is not None or held.status is MemberStatus.LEFT:
        return None  # accepted or over: an invitation that is told late changes nothing
    held.status = status
    return await work.save(held)


async def join(
    work: Work, *, invitation_id: UUID, membership_id: UUID, user_id: UUID
) -> tuple[MemberRef, MemberRef | None]:
    """Whoever accepted is one person, not two: the one that stays, and the one that it replaces."""
    invited = await work.find(MemberRef, invitation_id=invitation_id)
    member = await work.find(MemberRef, membership_id=membership_id)
    if invited is None or (member is not None and invited.id == member.id):
        return member or await _accepted(work, invitation_id, membership_id, user_id), None
    if member is None:
        held = await work.lock(MemberRef, invited.id)
        held.membership_id, held.user_id = membership_id, user_id
        held.status, held.membership_status = MemberStatus.ACTIVE, "active"
        return await work.save(held), None
    return member, invited


async def replace(work: Work, kept: MemberRef, gone: MemberRef) -> None:
    """Take the reference to the invitation away, and keep its number with the member's."""
    await work.remove(gone)
    held = await work.lock(MemberRef, kept.id)
    held.invitation_id = gone.invitation_id
    await work.save(held)


async def _accepted(
    work: Work, invitation_id: UUID, membership_id: UUID, user_id: UUID
) -> MemberRef:
    return await work.add(
        MemberRef(
            organization_id=work.organization_id,
            membership_id=membership_id,
            invitation_id=invitation_id,
            user_id=user_id,
            status=MemberStatus.ACTIVE,
            membership_status="active",
        )
    )


def _unknown() -> UnknownMembership:
    return UnknownMembership(remedy={"kind": "invite", "operation": "POST /identity/invitations"})
