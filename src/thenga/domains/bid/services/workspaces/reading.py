"""Lists of workspaces: cards, without amounts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, literal, literal_column, or_, select

from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.services.workspaces.access import person_of
from thenga.domains.bid.tables import Workspace, WorkspaceStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import among, where_given

_NEVER: ColumnElement[datetime] = literal_column("timestamptz '9999-12-31 00:00Z'", Instant)
_BY: dict[str, ColumnElement[Any]] = {
    "closingAt": func.coalesce(Workspace.closing_at, _NEVER),
    "createdAt": Workspace.created_at,
}
_UNSUBMITTED = tuple(sorted(WorkspaceLifecycle.BEFORE_SUBMISSION))


@dataclass(frozen=True, slots=True)
class WorkspaceFilters:
    """How the list of workspaces is narrowed."""

    status: WorkspaceStatus | None = None
    bid_manager_user_id: UUID | None = None
    mine: bool | None = None
    closing_from: datetime | None = None
    closing_to: datetime | None = None
    reconfirmation: bool | None = None
    tender_opportunity_id: UUID | None = None


async def list_workspaces(read: Reader, page: Paged, filters: WorkspaceFilters) -> Slice[Workspace]:
    """Every workspace of the organization, as a card."""
    statement = where_given(
        select(Workspace),
        (Workspace.bid_manager_user_id, filters.bid_manager_user_id),
        (Workspace.tender_opportunity_id, filters.tender_opportunity_id),
    )
    if filters.status is not None:
        statement = statement.where(_has_status(filters.status, read.now))
    if filters.mine is not None:
        mine = _is_mine(read)
        statement = statement.where(mine if filters.mine else ~mine)
    if filters.reconfirmation is not None:
        missing = Workspace.reconfirm_amendment.is_(None)
        statement = statement.where(~missing if filters.reconfirmation else missing)
    return await read.page(_closing(statement, filters), page, _BY[page.sort])


def _closing(statement: Select[Any], filters: WorkspaceFilters) -> Select[Any]:
    if filters.closing_from is not None:
        statement = statement.where(Workspace.closing_at >= filters.closing_from)
    if filters.closing_to is not None:
        statement = statement.where(Workspace.closing_at <= filters.closing_to)
    return statement


def _is_mine(read: Reader) -> ColumnElement[bool]:
    person = str(person_of(read) or "")
    return or_(
        func.coalesce(Workspace.bid_manager_user_id == person_of(read), False),
        func.jsonb_exists(Workspace.team, literal(person)),
    )


def _has_status(status: WorkspaceStatus, now: datetime) -> ColumnElement[bool]:
    """The status by the clock, also before the job of the closing has run."""
    closed = and_(
        among(Workspace.status, _UNSUBMITTED),
        func.coalesce(Workspace.gate_at, _NEVER) <= literal(now, Instant),
    )
    if status is WorkspaceStatus.LAPSED:
        return or_(Workspace.status == status, closed)
    return and_(Workspace.status == status, ~closed)
