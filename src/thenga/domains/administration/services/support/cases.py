"""Support cases: opened by customers or for them, triaged, changed and resolved by staff."""

from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from pydantic import MISSING
from sqlalchemy import ColumnElement

from thenga.domains.administration import public
from thenga.domains.administration.lifecycles import SupportCaseLifecycle
from thenga.domains.administration.public.support import Priority
from thenga.domains.administration.schemas.references import stored
from thenga.domains.administration.schemas.support_cases import (
    CaseFilters,
    ChangeCase,
    OpenCase,
    ResolveCase,
    TargetState,
    TriageCase,
)
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.support import clock, sides
from thenga.domains.administration.services.support.targets import PRIORITIES, higher, priority_of
from thenga.domains.administration.settings import REOPEN_DAYS
from thenga.domains.administration.tables import CaseCategory, SupportCase, SupportCaseStatus
from thenga.domains.identity.public import People
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import NOT_STORED, merge_patch
from thenga.kernel.db.series import next_number
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import (
    Forbidden,
    NotFound,
    Problem,
    RateLimited,
    RuleViolated,
    extensions,
)
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.calendar import local_day, local_midnight

MOST_OPEN = 20  # of one customer
MOST_A_DAY = 10  # of one person; security is exempt
_OF_CUSTOMERS = {"subject", "links", "reason"}
_DAY = timedelta(days=1)


class TooManyCases(Problem):
    """An organization can have at most 20 open support cases. Add a message to one instead."""

    code, status, title = "administration-too-many-cases", 409, "Too many open support cases"
    members = extensions(limit=(int, "Maximum number of open cases."))


async def get_case(read: Reader, case_id: UUID) -> SupportCase:
    """One case; another customer's is not there."""
    await sides.enter_case(read, case_id)
    return await read.get(SupportCase, case_id)


async def list_cases(read: Reader, page: Paged, filters: CaseFilters) -> Slice[SupportCase]:
    """The cases that the caller's side sees: customers their own, staff those of all."""
    statement = filters.select()
    if not actions.is_staff(read):
        if filters.organization_id not in (None, read.organization_id):
            raise NotFound()
        statement = statement.where(SupportCase.organization_id == read.organization_id)
    if filters.sla_state is not None:
        statement = statement.where(_in_state(filters.sla_state, read.now))
    return await read.page(statement, page)


async def open_case(work: Work, given: OpenCase) -> SupportCase:
    """Open a case. Customers open their own; staff name the customer they open it for."""
    await _enter_customer(work, given.on_behalf_of)
    if given.predecessor_case_id is not None:
        await work.get(SupportCase, given.predecessor_case_id)
    case = SupportCase.of(
        given,
        organization_id=work.organization_id,
        counterparty_id=OPERATOR,
        # The series is locked until the end, so the counts below cannot be overtaken.
        number=f"SC-{await next_number(work, 'support_case'):04d}",
        requester_user_id=actions.actor_of(work),
        channel="phone" if actions.is_staff(work) else "web",
        priority=priority_of(given.impact, given.urgency, category=given.category),
        links=stored(given.links),
        clock_from=work.now,
        response_due_at=work.now,
        due_at=work.now,
        on_behalf_of=NOT_STORED,
        reason=NOT_STORED,
    )
    await _check_limits(work, case)
    await clock.start(work, case)
    await work.add(case)
    clock.publish(work, case, public.SupportCaseOpened.of(case))
    await actions.record(work, case, reason=given.reason)
    return case


async def triage_case(work: Work, case_id: UUID, given: TriageCase) -> SupportCase:
    """Set what the case is about and how urgent it is; the targets follow (ADM-20)."""
    await sides.enter_case(work, case_id)
    await _check_assignee(work, given.assignee_user_id)
    case = await work.lock(SupportCase, case_id)
    before = actions.shown(case)
    if not SupportCaseLifecycle.triage.make(work, case):
        return case
    priority = _triaged(case, given)
    assignee = given.assignee_user_id or case.assignee_user_id
    merge_patch(case, given, priority=priority, assignee_user_id=assignee, reason=NOT_STORED)
    await clock.start(work, case)
    await _save(work, case, "triaged")
    await actions.record(work, case, reason=given.reason, before=before)
    return case


async def change_case(work: Work, case_id: UUID, given: ChangeCase) -> SupportCase:
    """Change the fields that were sent. Customers change subject and links of a new case."""
    await sides.enter_case(work, case_id)
    await _check_assignee(work, given.assignee_user_id)
    case = await work.lock(SupportCase, case_id)
    if not actions.is_staff(work):
        _check_customer(case, given)
    before = actions.shown(case)
    links = case.links if given.links is MISSING else stored(given.links)
    merge_patch(case, given, links=links, reason=NOT_STORED)
    if case.category is CaseCategory.SECURITY and higher(case.priority, "high") != case.priority:
        case.priority = "high"
        await clock.start(work, case)
    if work.changes(case):
        await _save(work, case, "changed")
        await actions.record(work, case, reason=given.reason, before=before)
    return case


async def resolve_case(work: Work, case_id: UUID, given: ResolveCase) -> SupportCase:
    """Resolve a case. Its text counts as the first response if there was none."""
    await sides.enter_case(work, case_id)
    case = await work.lock(SupportCase, case_id)
    before = actions.shown(case)
    if case.status is not SupportCaseStatus.RESOLVED:
        case.resolution_code, case.resolution_text = given.code.value, given.text
    if not SupportCaseLifecycle.resolve.make(work, case):
        return case
    breaches = clock.record_breaches(work, case)
    case.responded_at = case.responded_at or work.now
    case.resolved_at, case.resolved_by = work.now, actions.actor_of(work)
    days = await configuration.value(work, REOPEN_DAYS)
    case.reopens_until = work.now + timedelta(days=days)
    clock.schedule(case)
    await work.save(case)
    resolved = public.SupportCaseResolved.of(case, code=given.code)
    clock.publish(work, case, *breaches, resolved)
    await actions.record(work, case, reason=given.reason, before=before)
    return case


async def reopen(work: Work, case: SupportCase) -> None:
    """A customer's message reopens a resolved case, with a new target from now (ADM-23)."""
    if SupportCaseLifecycle.reopen.make(work, case):
        case.reopen_count += 1
        case.resolved_at = case.resolved_by = case.reopens_until = case.due_breached_at = None
        case.resolution_code = case.resolution_text = None
        case.clock_from = work.now
        await clock.start(work, case)


async def _save(work: Work, case: SupportCase, change: str) -> None:
    breaches = clock.record_breaches(work, case)
    await work.save(case)
    clock.publish(work, case, *breaches, public.SupportCaseUpdated.of(case, change=change))


async def _enter_customer(work: Work, on_behalf_of: UUID | None) -> None:
    if actions.is_staff(work):
        if on_behalf_of is None:
            raise RuleViolated("Name the customer in `onBehalfOf`.", rule="case-customer")
        await sides.enter_customer(work, on_behalf_of)
    elif on_behalf_of not in (None, work.organization_id):
        raise NotFound()


async def _check_limits(work: Work, case: SupportCase) -> None:
    mine = SupportCase.organization_id == work.organization_id
    unresolved = SupportCase.status != SupportCaseStatus.RESOLVED
    if await _count(work, mine, unresolved) >= MOST_OPEN:
        raise TooManyCases(limit=MOST_OPEN)
    if actions.is_staff(work) or case.category is CaseCategory.SECURITY:
        return
    midnight = local_midnight(local_day(work.now))
    counted = await _count(
        work,
        mine,
        SupportCase.requester_user_id == case.requester_user_id,
        SupportCase.created_at >= midnight,
        SupportCase.category != CaseCategory.SECURITY,
    )
    if counted >= MOST_A_DAY:
        seconds = int((midnight + _DAY - work.now).total_seconds()) + 1
        raise RateLimited(
            "You opened 10 support cases today. Add a message to one of them instead.",
            headers={"Retry-After": str(seconds)},
            limit=MOST_A_DAY,
            windowSeconds=int(_DAY.total_seconds()),
            retryAfterSeconds=seconds,
        )


async def _count(read: Reader, *conditions: ColumnElement[bool]) -> int:
    return await read.value(sa.select(sa.func.count()).where(*conditions)) or 0


def _triaged(case: SupportCase, given: TriageCase) -> Priority:
    """The priority of a triaged case; it is lowered only with a reason (ADM-20)."""
    found = priority_of(given.impact, given.urgency, category=given.category)
    wanted = given.priority or found
    if given.category is CaseCategory.SECURITY and higher(wanted, "high") != wanted:
        raise RuleViolated("A security case needs at least the priority high.", rule="ADM-20")
    lowered = PRIORITIES.index(wanted) < PRIORITIES.index(higher(found, case.priority))
    if lowered and given.priority_reason is None:
        raise RuleViolated(
            f"The priority would be {higher(found, case.priority)}. Explain in "
            "`priorityReason` why it is lower.",
            rule="ADM-20",
        )
    return wanted


def _check_customer(case: SupportCase, given: ChangeCase) -> None:
    if given.model_fields_set - _OF_CUSTOMERS:
        raise Forbidden("Only staff can set the category and the assignee of a case.")
    if case.status is not SupportCaseStatus.NEW:
        raise not_possible(
            "Staff are already working on this case. Add a message instead.",
            status=case.status,
            operation="change",
            allowed=[],
        )


async def _check_assignee(work: Work, user_id: UUID | None) -> None:
    """Refuse an assignee whom Identity does not know; silence lets the change through."""
    if user_id is None:
        return
    known = await asking(work, People, lambda port: port.describe(user_ids=[user_id]), silent=None)
    if known == []:
        raise RuleViolated("There is no user with this `assigneeUserId`.", rule="case-assignee")


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
