"""Permissions: the catalogue, and single ones given or denied."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.shapes import (
    Because,
    PermissionCode,
    Reason,
    ScopeBody,
    ScopeView,
    StatusReason,
    scope_asked,
)
from thenga.domains.identity.lifecycles import AssignmentLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import roles
from thenga.domains.identity.services.roles import GrantAboveOwn, RoleBuiltIn
from thenga.domains.identity.tables import AssignmentStatus, PermissionAssignment
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.declare.permission import Audience, Effect, Sensitivity
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, matching, text

router = make_router("Identity / Permission")

PermissionAssignmentId = Annotated[UUID, Path(alias="permissionAssignmentId")]
Word = Annotated[str, matching("^[a-z_.]{2,80}$", 80)]


class PermissionView(Stored):
    """One thing that can be allowed; what the catalogue says of it decides everywhere."""

    code: str
    domain: str
    title: str
    effect: str
    audiences: Annotated[list[str], Field(description="Over whose rows it can be held.")]
    sensitivity: Annotated[
        str, Field(description="`sensitive` and `administration` ask for a fresh proof.")
    ]
    feature: Annotated[str | None, Field(description="What the plan must include for it.")]
    keys: Annotated[bool, Field(description="Whether an API key may hold it.")]
    agents: str
    while_suspended: bool
    roles: Annotated[list[str], Field(description="The built-in roles that hold it.")]
    status: str


class Target(Body):
    type: Literal["membership", "role"]
    id: UUID


class AssignPermission(Body):
    target: Annotated[Target, Field(description="A member, or a role of your own making.")]
    permission: PermissionCode
    effect: Annotated[
        Literal["allow", "deny"],
        Field(description="One deny beats every allow. Owners cannot be denied anything."),
    ]
    scope: ScopeBody | None = None
    valid_from: Annotated[Instant | None, Field(description="Left out: from now on.")] = None
    valid_to: Annotated[Instant | None, Field(description="Left out: for good.")] = None
    reason: Reason


class TargetView(View):
    type: str
    id: UUID


class PermissionAssignmentView(Stored):
    """One permission given or denied to a member, or to all who have a role."""

    own_path: ClassVar[None] = None  # read in the list alone
    organization_id: UUID
    target: TargetView
    permission: str
    effect: str
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
    def of(cls, one: PermissionAssignment, now: datetime) -> "PermissionAssignmentView":
        status = roles.assignment_status(one, now)
        over = status is AssignmentStatus.EXPIRED
        return cls.shown(
            one.__dict__
            | {
                "target": TargetView(type=one.target_type, id=one.target_id),
                "scope": ScopeView.of(roles.scope_of(one)),
                "status": status,
                "status_reason": StatusReason.of(one.status_code, one.status_text),
                "allowed_moves": [] if over else AssignmentLifecycle.allowed(one, now),
            }
        )


@router.get("/identity/permissions")
async def list_permissions(
    read: Annotated[Reader, reads(Permission.PERMISSION_READ)],
    page: Annotated[Paged, paged("code")],
    domain: Annotated[Word | None, Query()] = None,
    audience: Annotated[Audience | None, Query()] = None,
    effect: Annotated[Effect | None, Query()] = None,
    sensitivity: Annotated[Sensitivity | None, Query()] = None,
    feature: Annotated[Word | None, Query()] = None,
    q: Annotated[
        Annotated[str, text(1, 80)] | None, Query(description="Part of the code or the title.")
    ] = None,
) -> PageOf[PermissionView]:
    """The catalogue of permissions of all domains, in the order of their codes."""
    found = await roles.list_permissions(
        read,
        page,
        domain=domain,
        audience=audience,
        effect=effect,
        sensitivity=sensitivity,
        feature=feature,
        q=q,
    )
    return PageOf[PermissionView].of(found, PermissionView.model_validate)


@router.post(
    "/identity/permission-assignments",
    status_code=201,
    responses=problems(GrantAboveOwn, Duplicate, RuleViolated, RoleBuiltIn),
)
async def assign_permission(
    body: AssignPermission,
    work: Annotated[Work, writes(Permission.PERMISSION_ASSIGNMENT_MANAGE)],
) -> PermissionAssignmentView:
    """Give or deny one permission. You give only what you hold yourself, and never to yourself."""
    assignment = await roles.assign_permission(
        work,
        target_type=body.target.type,
        target_id=body.target.id,
        permission=body.permission,
        effect=body.effect,
        scope=scope_asked(body.scope),
        valid_from=body.valid_from,
        valid_to=body.valid_to,
        reason=body.reason,
    )
    return PermissionAssignmentView.of(assignment, work.now)


@router.get("/identity/permission-assignments")
async def list_permission_assignments(
    read: Annotated[Reader, reads(Permission.PERMISSION_ASSIGNMENT_READ)],
    page: Annotated[Paged, paged("createdAt")],
    target: Annotated[
        UUID | None, Query(description="The identifier of a membership or a role.")
    ] = None,
    permission: Annotated[PermissionCode | None, Query()] = None,
    status: Annotated[AssignmentStatus | None, Query()] = None,
) -> PageOf[PermissionAssignmentView]:
    """Single permissions given and denied in the organization, ended ones too."""
    found = await roles.list_permission_assignments(
        read, page, target_id=target, permission=permission, status=status
    )
    now = read.now
    return PageOf[PermissionAssignmentView].of(
        found, lambda one: PermissionAssignmentView.of(one, now)
    )


@router.post(
    "/identity/permission-assignments/{permissionAssignmentId}/revoke",
    responses=problems(InvalidTransition, GrantAboveOwn, RuleViolated),
)
async def revoke_permission_assignment(
    permission_assignment_id: PermissionAssignmentId,
    body: Because,
    work: Annotated[Work, writes(Permission.PERMISSION_ASSIGNMENT_MANAGE)],
) -> PermissionAssignmentView:
    """End it. To end a deny is to give, so it asks that you hold the permission yourself."""
    assignment = await roles.revoke_permission(work, permission_assignment_id, reason=body.reason)
    return PermissionAssignmentView.of(assignment, work.now)
