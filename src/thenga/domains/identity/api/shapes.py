"""Fields that several resources of belonging and rights have in common on the wire."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.identity import public
from thenga.kernel.errors import NotFound
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import matching, text

OrganizationId = Annotated[UUID, Path(alias="organizationId")]
Reason = Annotated[
    str, text(1, 500), Field(description="Why; it is kept with the change.", examples=["New team"])
]
RoleCode = Annotated[str, matching("^[a-z][a-z0-9_]{2,39}$", 40), Field(examples=["viewer"])]
RoleCodes = Annotated[list[RoleCode], Field(min_length=1, max_length=10)]
PermissionCode = Annotated[
    str,
    matching("^[a-z_]{2,40}:[a-z_]{2,40}:[a-z_]{2,40}$", 122),
    Field(examples=["organization:equipment:read"]),
]


class Because(Body):
    reason: Reason


class ResourceBody(Body):
    domain: Annotated[str, matching("^[a-z_]{2,40}$", 40)]
    type: Annotated[str, matching("^[A-Za-z]{2,60}$", 60)]
    id: Annotated[str, matching("^[A-Za-z0-9._-]{1,80}$", 80)]


class WholeOrganization(Body):
    type: Literal["organization"]


class OneResource(Body):
    type: Literal["resource"]
    resource: ResourceBody


ScopeBody = Annotated[
    WholeOrganization | OneResource,
    Field(discriminator="type", description="Left out: the whole organization."),
]


def scope_asked(scope: WholeOrganization | OneResource | None) -> public.ScopeRef | None:
    """The resource named, or none for the whole organization."""
    if not isinstance(scope, OneResource):
        return None
    named = scope.resource
    return public.ScopeRef(domain=named.domain, type=named.type, id=named.id)


class ResourceView(View):
    domain: str
    type: str
    id: str


class ScopeView(View):
    """Where a right counts: in the whole organization, or on one resource."""

    type: Literal["organization", "resource"]
    resource: ResourceView | None

    @classmethod
    def of(cls, scope: public.ScopeRef | None) -> "ScopeView":
        if scope is None:
            return cls(type="organization", resource=None)
        return cls(type="resource", resource=ResourceView(**scope.model_dump()))


class StatusReason(View):
    code: str
    text: str | None

    @classmethod
    def of(cls, code: str | None, said: str | None) -> "StatusReason | None":
        return None if code is None else cls(code=code, text=said)


def must_agree(named: UUID | None, organization_id: UUID) -> None:
    """What a body or a filter names is the organization that the request acts for."""
    if named is not None and named != organization_id:
        raise NotFound()
