"""Roles: the built-in ones, and those an organization makes for itself."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.shapes import (
    Because,
    PermissionCode,
    Reason,
    RoleCode,
    StatusReason,
    must_agree,
)
from thenga.domains.identity.lifecycles import RoleLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import roles
from thenga.domains.identity.services.roles import GrantAboveOwn, RoleBuiltIn, RoleInUse
from thenga.domains.identity.tables import RoleStatus
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
from thenga.kernel.values.fields import lines, text

router = make_router("Identity / Role")

RoleId = Annotated[UUID, Path(alias="roleId")]
RoleName = Annotated[str, text(1, 80)]
About = Annotated[str, lines(1, 500)]
Permissions = Annotated[list[PermissionCode], Field(min_length=1, max_length=300)]


class MakeRole(Body):
    code: Annotated[RoleCode, Field(description="Once in an organization, and for good.")]
    name: RoleName
    description: About | None = None
    permissions: Permissions
    reason: Reason


class ChangeRole(Body):
    """A merge patch: what is left out stays, null empties the description."""

    name: RoleName = "unchanged"
    description: About | None = None
    permissions: Permissions = []
    reason: Reason


class RoleView(Stored):
    """A role and the permissions it holds."""

    organization_id: Annotated[UUID | None, Field(description="Null for a built-in role.")]
    kind: Literal["built_in", "custom"]
    audience: Literal["tenant", "platform"]
    code: str
    name: str
    description: str | None
    permissions: list[str]
    status: RoleStatus
    status_reason: StatusReason | None
    status_changed_at: datetime | None
    status_changed_by: UUID | None
    assigned_count: Annotated[
        int | None, Field(description="Assignments in force here; null if you act for nobody.")
    ]
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, one: roles.RoleSummary, now: datetime) -> "RoleView":
        row, custom = one.row, one.custom
        values = {
            "id": row.id,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "version": row.version,
            "kind": one.kind,
            "audience": one.audience,
            "code": row.code,
            "permissions": one.permissions,
            "status": one.status,
            "assigned_count": one.assigned_count,
        }
        if custom is None:
            return cls.model_validate(values | _of_built_in(row.code, one.title))
        return cls.model_validate(
            values
            | {
                "organization_id": custom.organization_id,
                "name": custom.name,
                "description": custom.description,
                "status_reason": StatusReason.of(custom.status_code, custom.status_text),
                "status_changed_at": custom.status_changed_at,
                "status_changed_by": custom.status_changed_by,
                "allowed_moves": RoleLifecycle.allowed(custom, now),
            }
        )


def _of_built_in(code: str, title: str) -> dict[str, object]:
    nothing: dict[str, object] = dict.fromkeys(
        ("organization_id", "status_reason", "status_changed_at", "status_changed_by")
    )
    name = code.replace("_", " ").capitalize()
    return nothing | {"name": name, "description": title, "allowed_moves": []}


@router.get("/identity/roles")
async def list_roles(
    read: Annotated[Reader, reads(Permission.ROLE_READ)],
    page: Annotated[Paged, paged("code")],
    organization_id: Annotated[UUID | None, Query(alias="organizationId")] = None,
    kind: Annotated[Literal["built_in", "custom"] | None, Query()] = None,
    audience: Annotated[Literal["tenant", "platform"] | None, Query()] = None,
    status: Annotated[RoleStatus | None, Query()] = None,
) -> PageOf[RoleView]:
    """Built-in roles and, acting for an organization, its own; in the order of their codes."""
    if organization_id is not None:
        must_agree(organization_id, read.organization_id if read.has_organization else UUID(int=0))
    items, after = await roles.list_roles(read, page, kind=kind, audience=audience, status=status)
    now = read.now
    return PageOf[RoleView](items=[RoleView.of(one, now) for one in items], next_cursor=after)


@router.get("/identity/roles/{roleId}")
async def get_role(
    role_id: RoleId, read: Annotated[Reader, reads(Permission.ROLE_READ)]
) -> RoleView:
    """One role: a built-in one, or one of the organization you act for."""
    return RoleView.of(await roles.get_role(read, role_id), read.now)


@router.post(
    "/identity/roles",
    status_code=201,
    responses=problems(Duplicate, GrantAboveOwn, RuleViolated),
)
async def make_role(
    body: MakeRole, work: Annotated[Work, writes(Permission.ROLE_MANAGE)]
) -> RoleView:
    """Make a role of your own, at first a `draft`. It holds nothing that you do not hold yourself.

    An organization has at most 50 that are not retired.
    """
    made = await roles.create_role(
        work,
        code=body.code,
        name=body.name,
        description=body.description,
        permissions=body.permissions,
        reason=body.reason,
    )
    return RoleView.of(made, work.now)


@router.patch(
    "/identity/roles/{roleId}",
    responses=problems(RoleBuiltIn, GrantAboveOwn, RuleViolated, InvalidTransition),
)
async def change_role(
    role_id: RoleId,
    body: ChangeRole,
    work: Annotated[Work, writes(Permission.ROLE_MANAGE, if_match=True)],
) -> RoleView:
    """Change a role. Whoever has it holds the new permissions from the next check on."""
    fields = {name: value for name, value in body.changes().items() if name != "reason"}
    return RoleView.of(
        await roles.change_role(work, role_id, fields=fields, reason=body.reason), work.now
    )


@router.post(
    "/identity/roles/{roleId}/activate",
    responses=problems(InvalidTransition, RoleBuiltIn, GrantAboveOwn, RuleViolated),
)
async def activate_role(
    role_id: RoleId, body: Because, work: Annotated[Work, writes(Permission.ROLE_MANAGE)]
) -> RoleView:
    """Make a draft a role that can be given."""
    return RoleView.of(await roles.activate_role(work, role_id, reason=body.reason), work.now)


@router.post(
    "/identity/roles/{roleId}/deprecate", responses=problems(InvalidTransition, RoleBuiltIn)
)
async def deprecate_role(
    role_id: RoleId, body: Because, work: Annotated[Work, writes(Permission.ROLE_MANAGE)]
) -> RoleView:
    """Give a role to nobody any more; who has it keeps it."""
    return RoleView.of(await roles.deprecate_role(work, role_id, reason=body.reason), work.now)


@router.post(
    "/identity/roles/{roleId}/retire",
    responses=problems(InvalidTransition, RoleBuiltIn, RoleInUse),
)
async def retire_role(
    role_id: RoleId, body: Because, work: Annotated[Work, writes(Permission.ROLE_MANAGE)]
) -> RoleView:
    """End a role that nobody has any more; no move leads back."""
    return RoleView.of(await roles.retire_role(work, role_id, reason=body.reason), work.now)
