"""Permissions: the catalogue, and single ones given or denied."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.scopes import (
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
    """A permission of the catalogue."""

    code: str
    domain: str
    title: str
    effect: str
    audiences: Annotated[
        list[str], Field(description="Groups whose data the permission applies to.")
    ]
    sensitivity: Annotated[
        str, Field(description="`sensitive` and `administration` need recent proof of identity.")
    ]
    feature: Annotated[str | None, Field(description="Plan feature that the permission requires.")]
    keys: Annotated[bool, Field(description="Whether an API key can hold it.")]
    agents: str
    people_only: Annotated[
        bool, Field(description="Whether only people can use it, and no API key, service or agent.")
    ]
    while_suspended: bool
    roles: Annotated[list[str], Field(description="Built-in roles that hold it.")]
    status: str


class Target(Body):
    """Target of an assignment or suggestion."""

    type: Literal["membership", "role"]
    id: UUID


class AssignPermission(Body):
    """Permission to allow or deny."""

    target: Annotated[Target, Field(description="Member or custom role that gets the permission.")]
    permission: PermissionCode
    effect: Annotated[
        Literal["allow", "deny"],
        Field(description="A deny overrides every allow. Owners cannot be denied anything."),
    ]
    scope: ScopeBody | None = None
    valid_from: Annotated[
        Instant | None, Field(description="Start of the assignment. Defaults to now.")
    ] = None
    valid_to: Annotated[
        Instant | None, Field(description="End of the assignment. Omit it for no end.")
    ] = None
    reason: Reason


class TargetView(View):
    """Target of an assignment or suggestion."""

    type: str
    id: UUID


class PermissionAssignmentView(Stored):
    """A permission allowed or denied for a member or for everyone with a role."""

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
        Annotated[str, text(1, 80)] | None,
        Query(description="Filter by part of the code or title."),
    ] = None,
) -> PageOf[PermissionView]:
    """List the permissions of all domains, sorted by code."""
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
    """Allow or deny one permission. You can grant only what you hold, and never to yourself."""
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
        UUID | None, Query(description="Filter by the ID of a membership or role.")
    ] = None,
    permission: Annotated[PermissionCode | None, Query()] = None,
    status: Annotated[AssignmentStatus | None, Query()] = None,
) -> PageOf[PermissionAssignmentView]:
    """List single permissions allowed or denied in the organization, including ended ones."""
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
    """Revoke a permission assignment. To revoke a deny, you must hold the permission yourself."""
    assignment = await roles.revoke_permission(work, permission_assignment_id, reason=body.reason)
    return PermissionAssignmentView.of(assignment, work.now)
