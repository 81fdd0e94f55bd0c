"""Dashboards: live figures of the platform."""

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.services import dashboards
from thenga.domains.administration.services.dashboards import Board, Widget, WidgetState
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import matching

router = make_router("Administration / Dashboard")

DashboardId = Annotated[
    str,
    matching("^[a-z][a-z-]{0,39}$", 40),
    Path(alias="dashboardId", description="Code of the dashboard."),
]


class DashboardView(View):
    """A built-in dashboard."""

    code: Annotated[str, Field(description="Code of the dashboard.")]
    title: Annotated[str, Field(description="What it shows.")]


class WidgetView(View):
    """One figure of one domain."""

    widget_key: Annotated[str, Field(description="Key of the widget.")]
    figure_key: Annotated[str, Field(description="Key of the figure.")]
    domain: Annotated[str, Field(description="Domain that reports it.")]
    value: Annotated[int | None, Field(description="Value. Null if it is not known.")]
    unit: Annotated[str, Field(description="What is counted.")]
    as_of: Annotated[datetime | None, Field(description="When it was last reported.")]
    state: Annotated[
        WidgetState, Field(description="State. `unknown`: the figure was not reported recently.")
    ]

    @classmethod
    def of(cls, widget: Widget) -> "WidgetView":
        return cls.model_validate(widget)


class DashboardDetail(DashboardView):
    """A dashboard with its current figures."""

    widgets: Annotated[list[WidgetView], Field(description="Figures.")]


@router.get("/administration/dashboards")
async def list_dashboards(
    read: Annotated[Reader, reads(Permission.DASHBOARD_READ)],
    page: Annotated[Paged, paged("code")],
) -> PageOf[DashboardView]:
    """List the dashboards."""
    found, after = dashboards.list_boards(read, page)
    return PageOf[DashboardView](items=[_view(one) for one in found], next_cursor=after)


@router.get("/administration/dashboards/{dashboardId}")
async def get_dashboard(
    dashboard_id: DashboardId,
    read: Annotated[Reader, reads(Permission.DASHBOARD_READ)],
    domain: Annotated[
        str | None, matching("^[a-z]{1,40}$", 40), Query(description="Filter by domain.")
    ] = None,
) -> DashboardDetail:
    """Get a dashboard with live figures. A figure that is not reported is `unknown`, never 0."""
    board, widgets = await dashboards.read_board(read, dashboard_id, domain=domain)
    shown = [WidgetView.of(one) for one in widgets]
    return DashboardDetail(code=board.code, title=board.title, widgets=shown)


def _view(board: Board) -> DashboardView:
    return DashboardView(code=board.code, title=board.title)
