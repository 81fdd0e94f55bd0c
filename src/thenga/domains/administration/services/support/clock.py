"""The clock of a case: whether its targets are met, and a breach that is published once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from thenga.domains.administration import public
from thenga.domains.administration.schemas.support_cases import TargetState
from thenga.domains.administration.services.support import targets
from thenga.domains.administration.tables import SupportCase
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare import law
from thenga.kernel.declare.event import Event
from thenga.kernel.values.calendar import working_minutes_between

Target = Literal["first_response", "resolution"]


@dataclass(frozen=True, slots=True)
class TargetStatus:
    """One target of a case as it is now."""

    target_minutes: int
    due_at: datetime
    met_at: datetime | None
    state: TargetState
    remaining_minutes: int | None


async def start(read: Reader, case: SupportCase) -> None:
    """Set both targets by the priority, counted from when the clock began (ADM-21)."""
    extra = await configuration.value(read, law.EXTRA_HOLIDAYS)
    due = targets.due(case.priority, case.clock_from, extra=extra)
    case.due_at = due.resolution
    if case.responded_at is None:
        case.response_due_at = due.first_response
    schedule(case)


def schedule(case: SupportCase) -> None:
    """Check again at the first target that is neither met nor breached."""
    ahead = [due_at for _, due_at in _unmet(case)]
    case.next_check_at = min(ahead, default=None)


def record_breaches(work: Work, case: SupportCase) -> list[public.SupportCaseBreached]:
    """Mark the targets that have passed; each is told once (ADM-23). Publish after saving."""
    passed = [(target, due_at) for target, due_at in _unmet(case) if due_at <= work.now]
    for target, due_at in passed:
        if target == "first_response":
            case.response_breached_at = due_at
        else:
            case.due_breached_at = due_at
    schedule(case)
    return [_event(case, target, due_at) for target, due_at in passed]


async def tell_breach(work: Work, case_id: UUID) -> None:
    """What the job does when a target is due; a case that was answered meanwhile is left alone."""
    case = await work.lock(SupportCase, case_id)
    breaches = record_breaches(work, case)
    await work.save(case)
    publish(work, case, *breaches)


def publish(work: Work, case: SupportCase, *events: Event) -> None:
    """Publish events of a case to its customer."""
    for event in events:
        work.publish(event, to=case.organization_id)


def first_response(case: SupportCase, now: datetime) -> TargetStatus:
    """How far the first response is."""
    minutes, _ = targets.TARGETS[case.priority]
    breached = case.response_breached_at is not None
    return _status(minutes, case.response_due_at, case.responded_at, now, breached=breached)


def resolution(case: SupportCase, now: datetime) -> TargetStatus:
    """How far the resolution is."""
    _, minutes = targets.TARGETS[case.priority]
    breached = case.due_breached_at is not None
    return _status(minutes, case.due_at, case.resolved_at, now, breached=breached)


def _unmet(case: SupportCase) -> list[tuple[Target, datetime]]:
    found: list[tuple[Target, datetime]] = []
    if case.responded_at is None and case.response_breached_at is None:
        found.append(("first_response", case.response_due_at))
    if case.resolved_at is None and case.due_breached_at is None:
        found.append(("resolution", case.due_at))
    return found


def _status(
    minutes: int, due_at: datetime, met_at: datetime | None, now: datetime, *, breached: bool
) -> TargetStatus:
    if met_at is not None:
        late = breached or met_at > due_at
        state = TargetState.BREACHED if late else TargetState.MET
        return TargetStatus(minutes, due_at, met_at, state, None)
    state = TargetState.BREACHED if breached or now >= due_at else TargetState.RUNNING
    left = working_minutes_between(now, due_at) if now < due_at else 0
    return TargetStatus(minutes, due_at, None, state, left)


def _event(case: SupportCase, target: Target, due_at: datetime) -> public.SupportCaseBreached:
    return public.SupportCaseBreached.of(case, target=target, due_at=due_at)
