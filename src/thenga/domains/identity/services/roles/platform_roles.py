"""Roles of staff: given by staff, to another member of staff, never both sides of a policy."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import AssignmentLifecycle
from thenga.domains.identity.permissions import PLATFORM_ROLES
from thenga.domains.identity.services import accounts
from thenga.domains.identity.services.roles import validity
from thenga.domains.identity.services.roles.rights import Giver
from thenga.domains.identity.tables import (
    AssignmentStatus,
    PermissionEntry,
    PlatformRoleAssignment,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.permission import Audience
from thenga.kernel.errors import Duplicate, NotFound, RuleViolated
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

# Who writes policies does not approve them (IDN-24).
_APART = {
    "platform_policy_author": "platform_policy_approver",
    "platform_policy_approver": "platform_policy_author",
}


_MOST_STAFF = 200
_HOLDING = """
    SELECT DISTINCT a.user_id
    FROM identity.platform_role_assignment a
    JOIN identity.user_account u ON u.user_id = a.user_id AND u.staff AND u.status = 'active'
    WHERE a.status IN ('active', 'scheduled') AND a.valid_from <= $1
        AND (a.valid_to IS NULL OR a.valid_to > $1)
        AND ($2::text IS NULL OR EXISTS (
            SELECT 1 FROM identity.permission p
            WHERE p.code = $2 AND p.status = 'active' AND 'platform' = ANY (p.audiences)
                AND a.role_code = ANY (p.roles)))
        AND ($3::text IS NULL OR a.role_code = $3)
        AND ($4::uuid[] IS NULL OR a.user_id = ANY ($4))
        AND ($5::uuid IS NULL OR a.user_id > $5)
    ORDER BY a.user_id LIMIT $6
"""
_USABLE = """
    SELECT DISTINCT a.role_code
    FROM identity.platform_role_assignment a
    JOIN identity.user_account u ON u.user_id = a.user_id AND u.staff AND u.status = 'active'
        AND u.factor_kinds && $2::text[]
    WHERE a.status IN ('active', 'scheduled') AND a.valid_from <= $1
        AND (a.valid_to IS NULL OR a.valid_to > $1)
"""
_ONE_AFTER_THE_OTHER = "SELECT pg_advisory_xact_lock(hashtextextended($1, 24))"


async def assign_platform_role(
    work: Work,
    *,
    user_id: UUID,
    role_code: str,
    valid_from: datetime | None,
    valid_to: datetime | None,
    reason: str,
) -> PlatformRoleAssignment:
    """Give a member of staff a platform role."""
    _must_exist(role_code)
    if user_id == work.actor.id:
        raise RuleViolated(
            "You cannot change your own rights. Ask a colleague with the same role.", rule="IDN-20"
        )
    one = await accounts.account_standing(work, user_id)
    if one is None or not one.is_active:
        raise NotFound()
    if not one.staff:
        raise RuleViolated("Only a staff account can have a platform role.", rule="IDN-18")
    starts = validity.check_times(valid_from, valid_to, work.now)
    await _must_hold(work, role_code)
    await _must_fit(work, user_id, role_code)
    assignment = PlatformRoleAssignment(
        id=new_id(),
        user_id=user_id,
        role_code=role_code,
        status=AssignmentStatus.SCHEDULED if starts > work.now else AssignmentStatus.ACTIVE,
        valid_from=starts,
        valid_to=valid_to,
        reason=reason,
        assigned_by=work.actor.id,
    )
    return await _add(work, assignment)


async def assign_first_role(work: Work, *, user_id: UUID, role_code: str, reason: str) -> bool:
    """Assign a platform role to somebody invited at the console; False if they have it (IDN-53)."""
    _must_exist(role_code)
    try:
        await _must_fit(work, user_id, role_code)
    except Duplicate:
        return False
    assignment = PlatformRoleAssignment(
        id=new_id(),
        user_id=user_id,
        role_code=role_code,
        status=AssignmentStatus.ACTIVE,
        valid_from=work.now,
        reason=reason,
    )
    await _add(work, assignment)
    return True


async def roles_without_holder(host: Host) -> list[str]:
    """Platform roles that no active member of staff with a second factor has (IDN-53)."""
    pool = host.engines.pool("identity", "identity_gate")
    async with pool.connection() as connection:
        found = await connection.fetch(_USABLE, host.now(), list(accounts.STRONG_FACTORS))
    filled = {row["role_code"] for row in found}
    return [code for code in PLATFORM_ROLES if code not in filled]


async def list_platform_roles(
    read: Reader,
    paged: Paged,
    *,
    user_id: UUID | None,
    role_code: str | None,
    status: AssignmentStatus | None,
) -> Slice[PlatformRoleAssignment]:
    """Who of staff has which role, or had it."""
    statement = select(PlatformRoleAssignment)
    statement = where_given(
        statement,
        (PlatformRoleAssignment.user_id, user_id),
        (PlatformRoleAssignment.role_code, role_code),
    )
    if status is not None:
        statement = statement.where(validity.is_shown_as(PlatformRoleAssignment, status, read.now))
    return await read.page(statement, paged)


async def staff_holding(
    host: Host,
    *,
    permission: str | None,
    role_code: str | None,
    user_ids: Sequence[UUID] | None,
    limit: int,
    after: UUID | None,
) -> list[UUID]:
    """Staff with a platform role in force that gives the permission or has this code.

    Read by the login of the gate, so whoever is told of something is whom the gate lets in.
    """
    named = None if user_ids is None else list(user_ids)
    pool = host.engines.pool("identity", "identity_gate")
    async with pool.connection() as connection:
        found = await connection.fetch(
            _HOLDING, host.now(), permission, role_code, named, after, min(limit, _MOST_STAFF)
        )
    return [one["user_id"] for one in found]


async def revoke_platform_role(work: Work, assignment_id: UUID) -> PlatformRoleAssignment:
    """Take a platform role; one's own may be given up."""
    assignment = await work.lock(PlatformRoleAssignment, assignment_id)
    assignment.status = validity.assignment_status(assignment, work.now)
    if AssignmentLifecycle.revoke(assignment, at=work.now):
        await work.save(assignment)
        work.publish(_changed(assignment))
    return assignment


def _must_exist(role_code: str) -> None:
    if role_code not in PLATFORM_ROLES:
        raise RuleViolated(
            f"{role_code} is not a role of staff. Choose from {', '.join(PLATFORM_ROLES)}.",
            rule="IDN-24",
        )


async def _add(work: Work, assignment: PlatformRoleAssignment) -> PlatformRoleAssignment:
    await work.add(assignment)
    work.publish(_changed(assignment))
    return assignment


async def _must_hold(work: Work, role_code: str) -> None:
    """Staff give what they hold, as members do (SEC-58).

    Whoever makes staff accounts could otherwise make a second one and give it every role.
    """
    mine = await work.all(
        select(PlatformRoleAssignment).where(PlatformRoleAssignment.user_id == work.actor.id)
    )
    codes = {
        one.role_code
        for one in mine
        if validity.assignment_status(one, work.now) is AssignmentStatus.ACTIVE
    }
    entries = await work.all(
        select(PermissionEntry).where(
            PermissionEntry.status == "active",
            sa.literal(Audience.PLATFORM.value) == sa.any_(PermissionEntry.audiences),
        ),
        limit=5000,
    )
    held = frozenset(one.code for one in entries if codes.intersection(one.roles))
    giver = Giver(work.user_id, None, held, is_owner=False)
    giver.must_hold(one.code for one in entries if role_code in one.roles)


async def _must_fit(work: Work, user_id: UUID, role_code: str) -> None:
    """Not twice, and not with the role that checks it; one after the other for one person."""
    await work.query(_ONE_AFTER_THE_OTHER, str(user_id))
    known = await work.all(
        select(PlatformRoleAssignment).where(PlatformRoleAssignment.user_id == user_id)
    )
    for one in known:
        if validity.assignment_status(one, work.now) not in (
            AssignmentStatus.SCHEDULED,
            AssignmentStatus.ACTIVE,
        ):
            continue
        if one.role_code == role_code:
            reference = {"domain": "identity", "type": "roleAssignment", "id": str(one.id)}
            raise Duplicate("This person already has the role.", existing=reference)
        if one.role_code == _APART.get(role_code):
            raise RuleViolated(
                "The same person cannot both write and approve policies, so these roles "
                "cannot be combined.",
                rule="IDN-24",
            )


def _changed(one: PlatformRoleAssignment) -> public.RoleAssignmentChanged:
    return public.RoleAssignmentChanged(
        organization_id=None,
        role_assignment_id=one.id,
        membership_id=None,
        user_id=one.user_id,
        role_code=one.role_code,
        scope=None,
        status=one.status,
        valid_to=one.valid_to,
    )
