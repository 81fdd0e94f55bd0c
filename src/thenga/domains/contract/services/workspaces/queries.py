"""Reading contracts."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.contract.services.workspaces.rules import folded
from thenga.domains.contract.tables import Award, Workspace, WorkspaceStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given

_BY: dict[str, ColumnElement[Any]] = {
    "endsOn": Workspace.current_ends_on,
    "currentValue": Workspace.current_value_minor,
    "createdAt": Workspace.created_at,
}


@dataclass(frozen=True, slots=True)
class WorkspaceFilters:
    """What the list may be narrowed to."""

    status: WorkspaceStatus | None = None
    regime: str | None = None
    category: str | None = None
    counterparty: str | None = None
    ends_before: date | None = None


async def list_workspaces(
    read: Reader, paged: Paged, filters: WorkspaceFilters
) -> Slice[Workspace]:
    """Contracts of the organization."""
    buyer = None if filters.counterparty is None else folded(filters.counterparty)
    statement = where_given(
        select(Workspace),
        (Workspace.status, filters.status),
        (Workspace.regime, filters.regime),
        (Workspace.category, filters.category),
        (Workspace.counterparty_key, buyer),
    )
    if filters.ends_before is not None:
        statement = statement.where(Workspace.current_ends_on < filters.ends_before)
    return await read.page(statement, paged, by=_BY[paged.sort])


async def awards_of(read: Reader, workspaces: list[Workspace]) -> dict[UUID, Award]:
    """The award that each contract rests on, by its ID."""
    ids = [one.award_id for one in workspaces]
    if not ids:
        return {}
    found = await read.all(select(Award).where(among(Award.id, ids)))
    return {award.id: award for award in found}
