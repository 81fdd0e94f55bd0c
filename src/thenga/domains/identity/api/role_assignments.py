"""Role assignments: who has which role, where and for how long."""

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.shapes import (
    Because,
    Reason,
    RoleCode,
    ScopeBody,
    ScopeView,
    StatusReason,
    scope_asked,
)
from thenga.domains.identity.lifecycles import AssignmentLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import roles
from thenga.domains.identity.services.roles import GrantAboveOwn, LastOwner
from thenga.domains.identity.tables import (
    AssignmentStatus,
    PlatformRoleAssignment,
    RoleAssignment,
)
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant

router = make_router("Identity / Role assignment")

RoleAssignmentId = Annotated[UUID, Path(alias="roleAssignmentId")]


class AssignRole(Body):
    """A member is named by `membershipId`; one of staff, for a platform role, by `userId`."""

    membership_id: UUID | None = None
    user_id: UUID | None = None
    role_code: RoleCode
    scope: ScopeBody | None = None
    valid_from: Annotated[Instant | None, Field(description="Left out: from now on.")] = None
    valid_to: Annotated[Instant | None, Field(description="Left out: for good.")] = None
    reason: Reason


class RoleAssignmentView(Stored):
    """A role given to a member, or to one of staff."""

    own_path: ClassVar[None] = None  # read in the list alone
    organization_id: Annotated[UUID | None, Field(description="Null for a platform role.")]
    membership_id: UUID | None
    user_id: Annotated[UUID | None, Field(description="Only of a platform role.")]
    role_code: str
    scope: ScopeView
    status: AssignmentStatus
    status_reason: StatusReason | None
    status_changed_at: datetime | None
    status_changed_by: UUID | None
    valid_from: datetime
    valid_to: datetime | None
    reason: str | None
    assigned_by: UUID | None
    decision_id: UUID | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(
        cls, one: RoleAssignment | PlatformRoleAssignment, now: datetime
    ) -> "RoleAssignmentView":
        status = roles.assignment_status(one, now)
        over = status is AssignmentStatus.EXPIRED
        values = one.__dict__ | {
            "status": status,
            "allowed_moves": [] if over else AssignmentLifecycle.allowed(one, now),
        }
        if isinstance(one, PlatformRoleAssignment):
            nothing = dict.fromkeys(_OF_MEMBERS)
            return cls.shown(values | nothing | {"scope": ScopeView.of(None)})
        reason = StatusReason.of(one.status_code, one.status_text)
        scope = ScopeView.of(roles.scope_of(one))
        return cls.shown(values | {"user_id": None, "scope": scope, "status_reason": reason})


_OF_MEMBERS = (
    "organization_id",
    "membership_id",
    "decision_id",
    "status_reason",
    "status_changed_at",
    "status_changed_by",
)


@router.post(
    "/identity/role-assignments",
    status_code=201,
    responses=problems(GrantAboveOwn, Duplicate, RuleViolated),
)
async def assign_role(
    body: AssignRole, work: Annotated[Work, writes(Permission.ROLE_ASSIGNMENT_MANAGE)]
) -> RoleAssignmentView:
    """Give a member a role, in the whole organization or on one resource, for good or for a time.

    You give only what you hold yourself, and never to yourself. Staff give platform roles.
    """
    if work.held_as == HeldAs.PLATFORM:
        given = await roles.assign_platform_role(
            work,
            user_id=_named(body.user_id, "userId"),
            role_code=body.role_code,
            valid_from=body.valid_from,
            valid_to=body.valid_to,
            reason=body.reason,
        )
        return RoleAssignmentView.of(given, work.now)
    assignment = await roles.assign_role(
        work,
        membership_id=_named(body.membership_id, "membershipId"),
        role_code=body.role_code,
        scope=scope_asked(body.scope),
        valid_from=body.valid_from,
        valid_to=body.valid_to,
        reason=body.reason,
    )
    return RoleAssignmentView.of(assignment, work.now)


@router.get("/identity/role-assignments")
async def list_role_assignments(
    read: Annotated[Reader, reads(Permission.ROLE_ASSIGNMENT_READ)],
    page: Annotated[Paged, paged("createdAt")],
    membership_id: Annotated[UUID | None, Query(alias="membershipId")] = None,
    user_id: Annotated[UUID | None, Query(alias="userId")] = None,
    role_code: Annotated[RoleCode | None, Query(alias="roleCode")] = None,
    status: Annotated[AssignmentStatus | None, Query()] = None,
) -> PageOf[RoleAssignmentView]:
    """Who has which role, or had it. Staff who name no organization see the platform's roles."""
    now = read.now
    if not read.has_organization:
        staff = await roles.list_platform_roles(
            read, page, user_id=user_id, role_code=role_code, status=status
        )
        return PageOf[RoleAssignmentView].of(staff, lambda one: RoleAssignmentView.of(one, now))
    found = await roles.list_role_assignments(
        read,
        page,
        membership_id=membership_id,
        user_id=user_id,
        role_code=role_code,
        status=status,
    )
    return PageOf[RoleAssignmentView].of(found, lambda one: RoleAssignmentView.of(one, now))


@router.post(
    "/identity/role-assignments/{roleAssignmentId}/revoke",
    responses=problems(InvalidTransition, LastOwner, GrantAboveOwn),
)
async def revoke_role_assignment(
    role_assignment_id: RoleAssignmentId,
    body: Because,
    work: Annotated[Work, writes(Permission.ROLE_ASSIGNMENT_MANAGE)],
) -> RoleAssignmentView:
    """Take a role. It counts no more from the next check on; the last owner keeps theirs."""
    if work.held_as == HeldAs.PLATFORM:
        taken = await roles.revoke_platform_role(work, role_assignment_id)
        return RoleAssignmentView.of(taken, work.now)
    assignment = await roles.revoke_role(work, role_assignment_id, reason=body.reason)
    return RoleAssignmentView.of(assignment, work.now)


def _named(value: UUID | None, field: str) -> UUID:
    if value is None:
        raise RuleViolated(f"Say by `{field}` who gets the role.", rule="membership-or-user")
    return value
