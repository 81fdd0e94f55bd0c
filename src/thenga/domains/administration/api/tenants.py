"""The view of one organization for staff."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.services import dashboards
from thenga.domains.administration.services.dashboards import DomainPanel
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.standing.panels import Value
from thenga.kernel.values.fields import matching

router = make_router("Administration / Tenant")


class PanelFigure(View):
    """One line of a panel."""

    key: Annotated[str, Field(description="What it shows.")]
    value: Annotated[Value, Field(description="Number, amount, time or code.")]


class PanelView(View):
    """One domain's view of the organization."""

    domain: Annotated[str, Field(description="Domain.")]
    status: Annotated[
        Literal["available", "unavailable"],
        Field(description="`unavailable`: the domain did not answer in time."),
    ]
    state: Annotated[
        Literal["ok", "warn", "alarm"] | None,
        Field(description="Whether the domain needs attention."),
    ]
    figures: Annotated[list[PanelFigure], Field(description="Figures, without content or names.")]
    as_of: Annotated[datetime | None, Field(description="When the figures were read.")]

    @classmethod
    def of(cls, one: DomainPanel) -> "PanelView":
        panel = one.panel
        if panel is None:
            return cls(domain=one.domain, status="unavailable", state=None, figures=[], as_of=None)
        return cls(
            domain=one.domain,
            status="available",
            state=panel.state.value,
            figures=[PanelFigure(key=each.key, value=each.value) for each in panel.figures],
            as_of=panel.as_of,
        )


class TenantView(View):
    """An organization at a glance, with live figures of every domain."""

    organization_id: Annotated[UUID, Field(description="Organization.")]
    panels: Annotated[list[PanelView], Field(description="Panels, by domain.")]


@router.get("/administration/tenants/{organizationId}")
async def get_tenant(
    read: Annotated[Reader, reads(Permission.TENANT_READ, reason=True)],
    panels: Annotated[
        str | None,
        matching("^[a-z]{1,40}(,[a-z]{1,40}){0,19}$", 820),
        Query(description="Domains to show, separated by commas. All by default."),
    ] = None,
) -> TenantView:
    """Get the state of an organization: figures of every domain, no content.

    Give the reason in `X-Admin-Reason`; the access is recorded. A domain that does not answer is
    `unavailable`.
    """
    only = None if panels is None else panels.split(",")
    found = await dashboards.read_tenant(read, only=only)
    return TenantView(
        organization_id=read.organization_id, panels=[PanelView.of(one) for one in found]
    )
