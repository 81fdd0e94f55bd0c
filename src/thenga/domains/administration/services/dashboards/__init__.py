"""Dashboards: live figures and panels of all domains, and the view of a tenant."""

from thenga.domains.administration.services.dashboards.boards import (
    Board,
    Widget,
    WidgetState,
    list_boards,
    read_board,
)
from thenga.domains.administration.services.dashboards.panel import summarize
from thenga.domains.administration.services.dashboards.tenants import DomainPanel, read_tenant

__all__ = [
    "Board",
    "DomainPanel",
    "Widget",
    "WidgetState",
    "list_boards",
    "read_board",
    "read_tenant",
    "summarize",
]
