"""Memberships: who belongs where, and the roles they have there."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import AssignmentLifecycle
from thenga.domains.identity.tables import (
    AssignmentStatus,
    Membership,
    MembershipStatus,
    RoleAssignment,
    TenantMirror,
)
from thenga.kernel.db.work import Work
from thenga.kernel.ids import new_id


async def found(
    work: Work, organization_id: UUID, *, founder: UUID, status: str, sandbox: bool, sequence: int
) -> Membership:
    """A new organization gets its mirror, and its founder becomes the active owner."""
    await work.add(
        TenantMirror(
            organization_id=organization_id,
            status=status,
            sandbox=sandbox,
            source_sequence=sequence,
        )
    )
    return await join(
        work, organization_id, user_id=founder, role_codes=["owner"], origin="founder"
    )


async def join(
    work: Work, organization_id: UUID, *, user_id: UUID, role_codes: list[str], origin: str
) -> Membership:
    """An active membership with its roles."""
    membership = await work.add(
        Membership(
            id=new_id(),
            organization_id=organization_id,
            user_id=user_id,
            status=MembershipStatus.ACTIVE,
            origin=origin,
            joined_at=work.now,
        )
    )
    for role_code in role_codes:
        await assign(work, membership, role_code=role_code, valid_for=None)
    work.publish(
        public.MembershipChanged(
            organization_id=organization_id,
            membership_id=membership.id,
            user_id=user_id,
            status=membership.status,
            previous_status=None,
            role_codes=role_codes,
        )
    )
    return membership


async def assign(
    work: Work, membership: Membership, *, role_code: str, valid_for: timedelta | None
) -> RoleAssignment:
    """Give a member a role, for good or for a time."""
    ends = None if valid_for is None else work.now + valid_for
    assignment = await work.add(
        RoleAssignment(
            organization_id=membership.organization_id,
            membership_id=membership.id,
            role_code=role_code,
            status=AssignmentStatus.ACTIVE,
            valid_from=work.now,
            valid_to=ends,
            assigned_by=work.actor.id,
            next_check_at=ends,
        )
    )
    work.publish(_changed(assignment))
    return assignment


async def expire_assignment(work: Work, role_assignment_id: UUID) -> None:
    """Write down that a role's time is over; the gate has not honoured it since."""
    assignment = await work.lock(RoleAssignment, role_assignment_id)
    if assignment.valid_to is None or work.now < assignment.valid_to:
        return
    assignment.next_check_at = None
    over = assignment.status not in AssignmentLifecycle.expire.sources
    if not over:
        AssignmentLifecycle.expire(assignment, at=work.now)
    await work.save(assignment)
    if not over:
        work.publish(_changed(assignment))


async def move_clock(work: Work, organization_id: UUID, *, ahead: timedelta, sequence: int) -> None:
    """The gate follows a sandbox's clock; a move that is not newer is ignored."""
    mirror = await work.lock_by(TenantMirror, organization_id=organization_id)
    if sequence <= mirror.source_sequence:
        return
    mirror.ahead = ahead
    mirror.source_sequence = sequence
    await work.save(mirror)


def _changed(assignment: RoleAssignment) -> public.RoleAssignmentChanged:
    return public.RoleAssignmentChanged(
        organization_id=assignment.organization_id,
        role_assignment_id=assignment.id,
        membership_id=assignment.membership_id,
        role_code=assignment.role_code,
        status=assignment.status,
        valid_to=assignment.valid_to,
    )
