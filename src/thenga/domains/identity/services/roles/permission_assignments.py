"""Single permissions, given or denied to a member or to all who have a custom role."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.services import organizations
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.services.roles import rights, validity
from thenga.domains.identity.services.roles.rights import Giver
from thenga.domains.identity.tables import (
    AssignmentStatus,
    CustomRole,
    Membership,
    MembershipStatus,
    PermissionAssignment,
    Role,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, Problem, RuleViolated
from thenga.kernel.values.ids import new_id


class RoleBuiltIn(Problem):
    """Built-in roles are the same everywhere. Make a role of your own and change that one."""

    code, status, title = "identity-role-built-in", 409, "A built-in role cannot be changed"


async def assign_permission(
    work: Work,
    *,
    target_type: str,
    target_id: UUID,
    permission: str,
    effect: str,
    scope: public.ScopeRef | None,
    valid_from: datetime | None,
    valid_to: datetime | None,
    reason: str,
) -> PermissionAssignment:
    """Give or deny one permission; what is given is held by the giver too (IDN-20)."""
    tenant = await organizations.lock_organization(work)
    giver = await rights.giver_of(work, work.user_id, tenant.now)
    await rights.must_be_grantable(work, [permission])
    await _check_target(work, tenant, giver, target_type, target_id)
    if effect == "deny" and target_type == "membership":
        await _must_not_own(work, tenant, target_id)
    if effect == "allow":
        giver.must_hold([permission])
    starts = validity.check_times(valid_from, valid_to, tenant.now)
    await _must_be_new(work, target_type, target_id, permission, effect, scope, tenant.now)
    made = PermissionAssignment(
        id=new_id(),
        organization_id=tenant.id,
        target_type=target_type,
        target_id=target_id,
        permission=permission,
        effect=effect,
        status=AssignmentStatus.SCHEDULED if starts > tenant.now else AssignmentStatus.ACTIVE,
        valid_from=starts,
        valid_to=valid_to,
        reason=reason,
    )
    validity.limit_to(made, scope)
    return await _add(work, tenant, made)


async def _add(work: Work, tenant: Tenant, made: PermissionAssignment) -> PermissionAssignment:
    made.next_check_at = (
        made.valid_to if made.status is AssignmentStatus.ACTIVE else made.valid_from
    )
    made.assigned_by = made.status_changed_by = work.actor.id
    made.decision_id = work.origin.decision_id
    made.status_changed_at = tenant.now
    await work.add(made)
    work.publish(_changed(made))
    return made


async def list_permission_assignments(
    read: Reader,
    paged: Paged,
    *,
    target_id: UUID | None,
    permission: str | None,
    status: AssignmentStatus | None,
) -> Slice[PermissionAssignment]:
    """The single permissions of the organization, ended ones too."""
    statement = select(PermissionAssignment)
    if target_id is not None:
        statement = statement.where(PermissionAssignment.target_id == target_id)
    if permission is not None:
        statement = statement.where(PermissionAssignment.permission == permission)
    if status is not None:
        statement = statement.where(validity.is_shown_as(PermissionAssignment, status, read.now))
    return await read.page(statement, paged)


async def revoke_permission(
    work: Work, assignment_id: UUID, *, reason: str
) -> PermissionAssignment:
    """End a single permission; to end a deny is to give, so it asks for the same (IDN-20)."""
    tenant = await organizations.lock_organization(work)
    assignment = await work.lock(PermissionAssignment, assignment_id)
    if not validity.revoke(assignment, at=tenant.now, by=work.actor.id, text=reason):
        return assignment
    if assignment.effect == "deny":
        giver = await rights.giver_of(work, work.user_id, tenant.now)
        giver.must_be_another(assignment.target_id)
        giver.must_hold([assignment.permission])
    await work.save(assignment)
    work.publish(_changed(assignment))
    return assignment


async def end_permission_assignments(work: Work, membership: Membership, at: datetime) -> None:
    """Who was removed has no single permissions either."""
    theirs = sa.and_(
        PermissionAssignment.target_type == "membership",
        PermissionAssignment.target_id == membership.id,
    )
    for one in await validity.end_all(work, PermissionAssignment, theirs, at):
        work.publish(_changed(one))


async def run_due_permission_steps(work: Work, assignment_id: UUID) -> None:
    """Write down what time made of it; the gate has honoured it since."""
    moved = await validity.follow_time(work, PermissionAssignment, assignment_id)
    if moved is not None:
        work.publish(_changed(moved))


async def _check_target(
    work: Work, tenant: Tenant, giver: Giver, target_type: str, target_id: UUID
) -> None:
    """A member who is another, and an owner only by an owner; or a role of one's own making."""
    if target_type == "role":
        if await work.find(Role, id=target_id) is not None:
            raise RoleBuiltIn()
        await work.get(CustomRole, target_id)
        return
    membership = await work.get(Membership, target_id)
    if membership.status is MembershipStatus.REMOVED:
        raise RuleViolated("Who was removed gets no rights; invite them again.", rule="IDN-18")
    giver.must_be_another(target_id)
    if await rights.has_role(work, target_id, rights.OWNER, tenant.now):
        giver.must_hold((), owner=True)


async def _must_not_own(work: Work, tenant: Tenant, membership_id: UUID) -> None:
    """A deny takes nothing from an owner, so nobody is left to believe that it does (SEC-57)."""
    if await rights.has_role(work, membership_id, rights.OWNER, tenant.now):
        raise RuleViolated(
            "An owner holds every permission of the organization. Revoke the role owner first.",
            rule="SEC-57",
        )


async def _must_be_new(
    work: Work,
    target_type: str,
    target_id: UUID,
    permission: str,
    effect: str,
    scope: public.ScopeRef | None,
    now: datetime,
) -> None:
    known = await work.all(
        select(PermissionAssignment).where(
            sa.and_(
                PermissionAssignment.target_type == target_type,
                PermissionAssignment.target_id == target_id,
                PermissionAssignment.permission == permission,
                PermissionAssignment.effect == effect,
            ),
            validity.same_scope(PermissionAssignment, scope),
            validity.is_open(PermissionAssignment),
        )
    )
    for one in known:
        if validity.assignment_status(one, now) is not AssignmentStatus.EXPIRED:
            reference = {"domain": "identity", "type": "permissionAssignment", "id": str(one.id)}
            raise Duplicate("This is assigned already.", existing=reference)
        await run_due_permission_steps(work, one.id)  # over, and not yet written down


def _changed(one: PermissionAssignment) -> public.PermissionAssignmentChanged:
    to_member = one.target_type == "membership"
    return public.PermissionAssignmentChanged(
        organization_id=one.organization_id,
        permission_assignment_id=one.id,
        membership_id=one.target_id if to_member else None,
        role_id=None if to_member else one.target_id,
        permission=one.permission,
        effect=one.effect,
        scope=rights.scope_of(one),
        status=one.status,
        valid_to=one.valid_to,
    )
