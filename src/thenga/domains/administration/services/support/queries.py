"""Lists of cases: customers see their own, staff those of every customer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select
from sqlalchemy.dialects.postgresql import JSONB

from thenga.domains.administration.public.support import Priority
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.support import sides
from thenga.domains.administration.services.support.clock import TargetState
from thenga.domains.administration.tables import CaseCategory, SupportCase, SupportCaseStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.errors import NotFound

_PRIORITY: ColumnElement[Any] = sa.literal_column(
    "array_position(ARRAY['low', 'normal', 'high', 'urgent'], priority)", sa.Integer
)
_SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "dueAt": SupportCase.due_at,
    "priority": _PRIORITY,
}


@dataclass(frozen=True, slots=True)
class CaseFilters:
    """What a list of cases is narrowed to."""

    status: SupportCaseStatus | None = None
    priority: Priority | None = None
    category: CaseCategory | None = None
    assignee_user_id: UUID | None = None
    organization_id: UUID | None = None
    sla_state: TargetState | None = None
    due_before: datetime | None = None
    linked_id: UUID | None = None
    q: str | None = None


async def get_case(read: Reader, case_id: UUID) -> SupportCase:
    """One case; another customer's is not there."""
    await sides.enter_case(read, case_id)
    return await read.get(SupportCase, case_id)


async def list_cases(read: Reader, paged: Paged, filters: CaseFilters) -> Slice[SupportCase]:
    """The cases that the caller's side sees."""
    customer = filters.organization_id
    if actions.is_staff(read):
        await sides.enter_as_staff(read)
    else:
        if customer not in (None, read.organization_id):
            raise NotFound()
        customer = read.organization_id
    statement = where_given(
        select(SupportCase),
        (SupportCase.organization_id, customer),
        (SupportCase.status, filters.status),
        (SupportCase.priority, filters.priority),
        (SupportCase.category, filters.category),
        (SupportCase.assignee_user_id, filters.assignee_user_id),
    )
    if filters.sla_state is not None:
        statement = statement.where(_in_state(filters.sla_state, read.now))
    if filters.due_before is not None:
        statement = statement.where(SupportCase.due_at < filters.due_before)
    if filters.linked_id is not None:
        linked = sa.literal([{"id": str(filters.linked_id)}], JSONB)
        statement = statement.where(SupportCase.links.op("@>")(linked))
    if filters.q is not None:
        found = sa.func.strpos(sa.func.lower(SupportCase.subject), filters.q.lower())
        statement = statement.where(found > 0)
    return await read.page(statement, paged, _SORTS[paged.sort])


def _in_state(state: TargetState, now: datetime) -> ColumnElement[bool]:
    """The state of the resolution, as `clock.resolution` derives it."""
    at = sa.func.coalesce(SupportCase.resolved_at, sa.literal(now, sa.DateTime(timezone=True)))
    resolved = SupportCase.resolved_at.is_not(None)
    late = sa.or_(
        SupportCase.due_breached_at.is_not(None),
        at > SupportCase.due_at,
        sa.and_(~resolved, at >= SupportCase.due_at),
    )
    if state is TargetState.BREACHED:
        return late
    met = state is TargetState.MET
    return sa.and_(~late, resolved if met else ~resolved)
