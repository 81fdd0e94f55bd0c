"""Audiences in request bodies."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.notification.public import Target
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import matching

KIND = Field(description="Kind of the group.")


class UsersTarget(Body):
    """Individual members."""

    kind: Annotated[Literal["users"], KIND]
    user_ids: Annotated[
        list[UUID], Field(min_length=1, max_length=500, description="Members to notify.")
    ]


class RoleTarget(Body):
    """Members who have a role."""

    kind: Annotated[Literal["role"], KIND]
    role_code: Annotated[
        str,
        matching("^[a-z][a-z0-9_]{0,59}$", 60),
        Field(description="Code of a role of your organization."),
    ]


class PermissionTarget(Body):
    """Members who hold a permission."""

    kind: Annotated[Literal["permission"], KIND]
    permission: Annotated[
        str,
        matching("^[a-z]+:[a-z-]+:[a-z-]+$", 100),
        Field(description="Permission, for example `billing:account:read`."),
    ]


class MembersTarget(Body):
    """All members of the organization."""

    kind: Annotated[Literal["members"], KIND]


TargetBody = Annotated[
    UsersTarget | RoleTarget | PermissionTarget | MembersTarget, Field(discriminator="kind")
]
Audience = Annotated[
    list[TargetBody],
    Field(min_length=1, max_length=20, description="Groups of members. No one is notified twice."),
]


def targets_of(audience: Audience) -> list[Target]:
    """The audience as the services know it."""
    return [Target.model_validate(one.model_dump()) for one in audience]
