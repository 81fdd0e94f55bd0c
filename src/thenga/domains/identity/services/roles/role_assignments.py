"""Roles given to members: for the whole organization or one resource, for good or for a time."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.services import organizations
from thenga.domains.identity.services.roles import owners, rights, validity
from thenga.domains.identity.tables import (
    AssignmentStatus,
    Membership,
    MembershipStatus,
    RoleAssignment,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated
from thenga.kernel.values.ids import new_id


async def assign_role(
    work: Work,
    *,
    membership_id: UUID,
    role_code: str,
    scope: public.ScopeRef | None,
    valid_from: datetime | None,
    valid_to: datetime | None,
    reason: str,
) -> RoleAssignment:
    """Give a member a role; what it holds is held by the giver too (IDN-20)."""
    tenant = await organizations.lock_organization(work)
    membership = await work.get(Membership, membership_id)
    if membership.status is MembershipStatus.REMOVED:
        raise RuleViolated("Who was removed gets no role; invite them again.", rule="IDN-18")
    giver = await rights.giver_of(work, work.user_id, tenant.now)
    giver.must_be_another(membership_id)
    granted = await rights.permissions_given_by(work, [role_code], tenant.now)
    giver.must_hold(granted.permissions, owner=granted.includes_owner)
    starts = validity.check_times(valid_from, valid_to, tenant.now)
    await _must_be_new(work, membership_id, role_code, scope, tenant.now)
    return await give_role(
        work,
        membership,
        role_code=role_code,
        at=tenant.now,
        scope=scope,
        valid_from=starts,
        valid_to=valid_to,
        reason=reason,
        assigned_by=work.actor.id,
    )


async def give_role(
    work: Work,
    membership: Membership,
    *,
    role_code: str,
    at: datetime,
    scope: public.ScopeRef | None = None,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    reason: str | None = None,
    assigned_by: UUID | None = None,
) -> RoleAssignment:
    """Write down a role that was decided on."""
    starts = valid_from or at
    assignment = RoleAssignment(
        id=new_id(),
        organization_id=membership.organization_id,
        membership_id=membership.id,
        role_code=role_code,
        status=AssignmentStatus.SCHEDULED if starts > at else AssignmentStatus.ACTIVE,
        valid_from=starts,
        valid_to=valid_to,
        reason=reason,
        assigned_by=assigned_by,
        decision_id=work.origin.decision_id,
        next_check_at=starts if starts > at else valid_to,
        status_changed_at=at,
        status_changed_by=assigned_by,
    )
    validity.limit_to(assignment, scope)
    await work.add(assignment)
    work.publish(_changed(assignment))
    return assignment


async def list_role_assignments(
    read: Reader,
    paged: Paged,
    *,
    membership_id: UUID | None,
    user_id: UUID | None,
    role_code: str | None,
    status: AssignmentStatus | None,
) -> Slice[RoleAssignment]:
    """The roles of the organization's members, ended ones too."""
    statement = select(RoleAssignment)
    if membership_id is not None:
        statement = statement.where(RoleAssignment.membership_id == membership_id)
    if user_id is not None:
        theirs = select(Membership.id).where(
            Membership.organization_id == read.organization_id, Membership.user_id == user_id
        )
        statement = statement.where(
            RoleAssignment.membership_id == sa.any_(theirs.scalar_subquery())
        )
    if role_code is not None:
        statement = statement.where(RoleAssignment.role_code == role_code)
    if status is not None:
        statement = statement.where(validity.is_shown_as(RoleAssignment, status, read.now))
    return await read.page(statement, paged)


async def revoke_role(work: Work, role_assignment_id: UUID, *, reason: str) -> RoleAssignment:
    """Take a role; nobody takes the last owner's (IDN-19)."""
    tenant = await organizations.lock_organization(work)
    assignment = await work.lock(RoleAssignment, role_assignment_id)
    if not validity.revoke(assignment, at=tenant.now, by=work.actor.id, text=reason):
        return assignment
    if assignment.role_code == rights.OWNER:
        if await _is_active(work, assignment.membership_id):
            await owners.check_owner_remains(work, tenant, without=assignment.membership_id)
        giver = await rights.giver_of(work, work.user_id, tenant.now)
        giver.must_hold((), owner=True)
    await work.save(assignment)
    work.publish(_changed(assignment))
    return assignment


async def end_role_assignments(work: Work, membership: Membership, at: datetime) -> None:
    """Who was removed has no roles: they end with the membership."""
    theirs = RoleAssignment.membership_id == membership.id
    for one in await validity.end_all(work, RoleAssignment, theirs, at):
        work.publish(_changed(one))


async def run_due_role_steps(work: Work, role_assignment_id: UUID) -> None:
    """Write down what time made of a role; the gate has honoured it since."""
    moved = await validity.follow_time(work, RoleAssignment, role_assignment_id)
    if moved is not None:
        work.publish(_changed(moved))


async def role_codes_of(
    read: Reader, membership_ids: Iterable[UUID], at: datetime
) -> dict[UUID, list[str]]:
    """The roles in force of some members, whatever their scope."""
    found = await read.all(
        select(RoleAssignment)
        .where(
            among(RoleAssignment.membership_id, membership_ids),
            rights.in_force(RoleAssignment, at),
        )
        .order_by(RoleAssignment.role_code),
        limit=5000,
    )
    made: dict[UUID, list[str]] = {}
    for one in found:
        codes = made.setdefault(one.membership_id, [])
        if one.role_code not in codes:
            codes.append(one.role_code)
    return made


async def _must_be_new(
    work: Work,
    membership_id: UUID,
    role_code: str,
    scope: public.ScopeRef | None,
    now: datetime,
) -> None:
    known = await work.all(
        select(RoleAssignment).where(
            RoleAssignment.membership_id == membership_id,
            RoleAssignment.role_code == role_code,
            validity.same_scope(RoleAssignment, scope),
            validity.is_open(RoleAssignment),
        )
    )
    for one in known:
        if validity.assignment_status(one, now) is not AssignmentStatus.EXPIRED:
            reference = {"domain": "identity", "type": "roleAssignment", "id": str(one.id)}
            raise Duplicate("This member has the role already.", existing=reference)
        await run_due_role_steps(work, one.id)  # over, and not yet written down


async def _is_active(work: Work, membership_id: UUID) -> bool:
    return (await work.get(Membership, membership_id)).status is MembershipStatus.ACTIVE


def _changed(assignment: RoleAssignment) -> public.RoleAssignmentChanged:
    return public.RoleAssignmentChanged(
        organization_id=assignment.organization_id,
        role_assignment_id=assignment.id,
        membership_id=assignment.membership_id,
        user_id=None,
        role_code=assignment.role_code,
        scope=rights.scope_of(assignment),
        status=assignment.status,
        valid_to=assignment.valid_to,
    )
