"""Support cases: opened by customers or for them, triaged, changed and resolved by staff."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from thenga.domains.administration import public
from thenga.domains.administration.lifecycles import SupportCaseLifecycle
from thenga.domains.administration.public.support import Priority
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.support import clock, sides
from thenga.domains.administration.services.support.targets import PRIORITIES, higher, priority_of
from thenga.domains.administration.settings import REOPEN_DAYS
from thenga.domains.administration.tables import (
    CaseCategory,
    Impact,
    ResolutionCode,
    SupportCase,
    SupportCaseStatus,
    Urgency,
)
from thenga.domains.identity.public import People
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.series import next_number
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import (
    DependencyUnavailable,
    Forbidden,
    NotFound,
    Problem,
    RateLimited,
    RuleViolated,
    extensions,
)
from thenga.kernel.values.calendar import local_day, local_midnight

MOST_OPEN = 20  # of one customer
MOST_A_DAY = 10  # of one person; security is exempt
_OF_CUSTOMERS = {"subject", "links"}
_DAY = timedelta(days=1)


class TooManyCases(Problem):
    """An organization can have at most 20 open support cases. Add a message to one instead."""

    code, status, title = "administration-too-many-cases", 409, "Too many open support cases"
    members = extensions(limit=(int, "Maximum number of open cases."))


@dataclass(frozen=True, slots=True)
class Triage:
    """Staff's assessment of a new case."""

    category: CaseCategory
    impact: Impact
    urgency: Urgency
    priority: Priority | None
    priority_reason: str | None
    assignee_user_id: UUID | None


async def open_case(
    work: Work, *, fields: dict[str, Any], on_behalf_of: UUID | None, reason: str | None
) -> SupportCase:
    """Open a case. Customers open their own; staff name the customer they open it for."""
    await _enter_customer(work, on_behalf_of)
    predecessor = fields.get("predecessor_case_id")
    if predecessor is not None:
        await work.get(SupportCase, predecessor)
    priority = priority_of(fields["impact"], fields["urgency"], category=fields["category"])
    case = SupportCase(
        organization_id=work.organization_id,
        counterparty_id=OPERATOR,
        # The series is locked until the end, so the counts below cannot be overtaken.
        number=f"SC-{await next_number(work, 'support_case'):04d}",
        requester_user_id=actions.actor_of(work),
        channel="phone" if actions.is_staff(work) else "web",
        priority=priority,
        clock_from=work.now,
        response_due_at=work.now,
        due_at=work.now,
        **fields,
    )
    await _check_limits(work, case)
    await clock.start(work, case)
    await work.add(case)
    work.publish(
        public.SupportCaseOpened(category=case.category.value, **facts(case)),
        to=case.organization_id,
    )
    await actions.record(work, case, reason=reason)
    return case


async def triage_case(
    work: Work, case_id: UUID, triage: Triage, *, reason: str | None
) -> SupportCase:
    """Set what the case is about and how urgent it is; the targets follow (ADM-20)."""
    await sides.enter_case(work, case_id)
    await _check_assignee(work, triage.assignee_user_id)
    case = await work.lock(SupportCase, case_id)
    before = actions.shown(case)
    if not SupportCaseLifecycle.triage(case, at=work.now):
        return case
    priority = _triaged(case, triage)
    case.category, case.impact, case.urgency = triage.category, triage.impact, triage.urgency
    case.priority, case.priority_reason = priority, triage.priority_reason
    case.assignee_user_id = triage.assignee_user_id or case.assignee_user_id
    await clock.start(work, case)
    await _save(work, case, "triaged")
    await actions.record(work, case, reason=reason, before=before)
    return case


async def change_case(
    work: Work, case_id: UUID, *, fields: dict[str, Any], reason: str | None
) -> SupportCase:
    """Change the fields named. Customers change subject and links while the case is new."""
    await sides.enter_case(work, case_id)
    await _check_assignee(work, fields.get("assignee_user_id"))
    case = await work.lock(SupportCase, case_id)
    if not actions.is_staff(work):
        _check_customer(case, fields)
    before = actions.shown(case)
    merge_patch(case, fields)
    if case.category is CaseCategory.SECURITY and higher(case.priority, "high") != case.priority:
        case.priority = "high"
        await clock.start(work, case)
    if work.changes(case):
        await _save(work, case, "changed")
        await actions.record(work, case, reason=reason, before=before)
    return case


async def resolve_case(
    work: Work, case_id: UUID, *, code: ResolutionCode, text: str, reason: str | None
) -> SupportCase:
    """Resolve a case. Its text counts as the first response if there was none."""
    await sides.enter_case(work, case_id)
    case = await work.lock(SupportCase, case_id)
    before = actions.shown(case)
    if case.status is not SupportCaseStatus.RESOLVED:
        case.resolution_code, case.resolution_text = code.value, text
    if not SupportCaseLifecycle.resolve(case, at=work.now):
        return case
    breaches = clock.record_breaches(work, case)
    case.responded_at = case.responded_at or work.now
    case.resolved_at, case.resolved_by = work.now, actions.actor_of(work)
    days = await configuration.value(work, REOPEN_DAYS)
    case.reopens_until = work.now + timedelta(days=days)
    clock.schedule(case)
    await work.save(case)
    for breach in breaches:
        work.publish(breach, to=case.organization_id)
    told = {name: value for name, value in facts(case).items() if name not in ("status", "due_at")}
    work.publish(public.SupportCaseResolved(code=code.value, **told), to=case.organization_id)
    await actions.record(work, case, reason=reason, before=before)
    return case


async def reopen(work: Work, case: SupportCase) -> None:
    """A customer's message reopens a resolved case, with a new target from now (ADM-23)."""
    if SupportCaseLifecycle.reopen(case, at=work.now):
        case.reopen_count += 1
        case.resolved_at = case.resolved_by = case.reopens_until = case.due_breached_at = None
        case.resolution_code = case.resolution_text = None
        case.clock_from = work.now
        await clock.start(work, case)


def facts(case: SupportCase) -> dict[str, Any]:
    """What every event of a case says."""
    return {
        "organization_id": case.organization_id,
        "case_id": case.id,
        "number": case.number,
        "status": case.status.value,
        "priority": case.priority,
        "requester_user_id": case.requester_user_id,
        "assignee_user_id": case.assignee_user_id,
        "due_at": case.due_at,
    }


async def _save(work: Work, case: SupportCase, change: str) -> None:
    breaches = clock.record_breaches(work, case)
    await work.save(case)
    for breach in breaches:
        work.publish(breach, to=case.organization_id)
    work.publish(
        public.SupportCaseUpdated.model_validate(facts(case) | {"change": change}),
        to=case.organization_id,
    )


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


async def _count(read: Reader, *conditions: sa.ColumnElement[bool]) -> int:
    return await read.value(sa.select(sa.func.count()).where(*conditions)) or 0


def _triaged(case: SupportCase, triage: Triage) -> Priority:
    """The priority of a triaged case; it is lowered only with a reason (ADM-20)."""
    found = priority_of(triage.impact, triage.urgency, category=triage.category.value)
    wanted = triage.priority or found
    if triage.category is CaseCategory.SECURITY and higher(wanted, "high") != wanted:
        raise RuleViolated("A security case needs at least the priority high.", rule="ADM-20")
    lowered = PRIORITIES.index(wanted) < PRIORITIES.index(higher(found, case.priority))
    if lowered and triage.priority_reason is None:
        raise RuleViolated(
            f"The priority would be {higher(found, case.priority)}. Explain in "
            "`priorityReason` why it is lower.",
            rule="ADM-20",
        )
    return wanted


def _check_customer(case: SupportCase, fields: dict[str, Any]) -> None:
    if fields.keys() - _OF_CUSTOMERS:
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
    try:
        known = await work.port(People).describe(user_ids=[user_id])
    except (DependencyUnavailable, LookupError):
        return
    if not known:
        raise RuleViolated("There is no user with this `assigneeUserId`.", rule="case-assignee")
