"""Schedules: a message that is checked when it is saved and sent at local times (NOT-38)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal_column, select

from thenga.domains.notification.lifecycles import ScheduleLifecycle
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.public import Target
from thenga.domains.notification.services import requests, templates
from thenga.domains.notification.services.reminders.acting import (
    NOT_ALLOWED,
    is_allowed,
    requester,
)
from thenga.domains.notification.services.reminders.occasions import Occasion, Passed, Timing
from thenga.domains.notification.services.reminders.recurrence import RuleRefused, recurrence
from thenga.domains.notification.services.requests import Asked
from thenga.domains.notification.tables import Schedule, ScheduleStatus
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import ERRORS, Problem, RuleViolated, extensions
from thenga.kernel.values.references import Reference

SUSPENDED_TOPIC = "notification.schedule_suspended"
MOST_PAST = timedelta(days=400)
_ON_TIME = timedelta(minutes=5)  # what `misfire: skip` still sends
_NEVER: ColumnElement[datetime] = literal_column("timestamptz '9999-12-31 00:00Z'", Instant)
_BY: dict[str, ColumnElement[datetime]] = {
    "createdAt": Schedule.created_at,
    "nextCheckAt": func.coalesce(Schedule.next_check_at, _NEVER),
}
_FAULTS = {
    "syntax": "Write NAME=VALUE parts separated by semicolons, with UNTIL in local time.",
    "part": "Use FREQ, INTERVAL, COUNT, UNTIL, BYDAY, BYMONTHDAY, BYMONTH, BYHOUR and BYMINUTE.",
    "frequency": "Use FREQ=DAILY, WEEKLY, MONTHLY or YEARLY.",
    "interval": "Use an INTERVAL from 1 to 366. Above 1, leave out BY lists that filter dates.",
    "count": "Use a COUNT from 1 to 10000.",
    "list": "Use at most 31 values in a list, all within range.",
    "day": "This day does not exist. Check BYDAY and BYMONTHDAY.",
    "too_often": "Leave at least 15 minutes between two times.",
    "empty": "The rule has no time within five years of its start.",
}


class RuleNotUsable(Problem):
    """The recurrence rule is not valid or not supported. `errors` says what to change."""

    code, status, title = "notification-rrule-refused", 422, "This recurrence rule cannot be used"
    members = extensions(errors=ERRORS)


class ScheduleEmpty(Problem):
    """Nothing would be sent: no time of this schedule is in the future.

    Check `startsAt`, `exdates` and `onNonWorkingDay`.
    """

    code, status, title = "notification-schedule-empty", 422, "This schedule would never send"


@dataclass(frozen=True, slots=True)
class ScheduleFields:
    """What a caller sets, as it is stored."""

    name: str
    starts_at: str
    time_zone: str
    rrule: str | None
    exdates: list[str]
    on_non_working_day: str
    misfire: str
    misfire_grace: int
    request: dict[str, Any]


async def create_schedule(work: Work, fields: ScheduleFields) -> Schedule:
    """Check everything as if it were sent now, and store when it is due first."""
    acts_for, kind = requester(work)
    schedule = Schedule(
        organization_id=work.organization_id,
        kind=_kind(fields),
        acts_for=acts_for,
        acts_for_kind=kind,
        **{name: getattr(fields, name) for name in fields.__slots__},
    )
    await _check(work, schedule)
    _plan(schedule, (await timing_of(work, schedule)).pass_until(work.now))
    return await work.add(schedule)


async def change_schedule(work: Work, schedule_id: UUID, fields: Mapping[str, Any]) -> Schedule:
    """Change an active schedule; what was sent stays sent, and past times are not made up for."""
    known = await work.get(Schedule, schedule_id)
    acts_for, kind = requester(work)  # whoever changes it answers for it from now on
    fields = dict(fields) | {"acts_for": acts_for, "acts_for_kind": kind}
    wished = Schedule(**known.__dict__ | fields)
    # Identity is asked before the lock.
    await _check(work, wished, started=wished.starts_at == known.starts_at)
    schedule = await work.lock(Schedule, schedule_id)
    if schedule.status is not ScheduleStatus.ACTIVE:
        raise not_possible(
            "Only an active schedule can be changed.",
            status=schedule.status,
            operation="update",
            allowed=ScheduleLifecycle.open(schedule),
        )
    for name, value in fields.items():
        setattr(schedule, name, value)
    schedule.kind = "once" if schedule.rrule is None else "recurring"
    _plan(schedule, (await timing_of(work, schedule)).pass_until(work.now))
    return await work.save(schedule)


async def cancel_schedule(work: Work, schedule_id: UUID) -> None:
    """Send nothing any more."""
    schedule = await work.lock(Schedule, schedule_id)
    if ScheduleLifecycle.cancel(schedule, at=work.now):
        schedule.next_check_at = schedule.next_local = None
        await work.save(schedule)


async def list_schedules(
    read: Reader, paged: Paged, *, status: ScheduleStatus | None
) -> Slice[Schedule]:
    """The schedules of the organization."""
    statement = where_given(select(Schedule), (Schedule.status, status and status.value))
    return await read.page(statement, paged, _BY[paged.sort])


async def fire_schedule(work: Work, schedule_id: UUID) -> None:
    """Send what is due, once; somebody who lost the permission sends nothing (NOT-48)."""
    known = await work.get(Schedule, schedule_id)
    if not _is_due(known, work.now):
        return
    allowed = await is_allowed(
        work, known.acts_for, known.acts_for_kind, Permission.SCHEDULE_CREATE
    )
    schedule = await work.lock(Schedule, schedule_id)
    if not _is_due(schedule, work.now):
        return
    if not allowed:
        await _suspend(work, schedule, NOT_ALLOWED)
        return
    timing = await timing_of(work, schedule)
    passed = timing.pass_until(work.now, since=_local(schedule.next_local))
    sent = passed.newest is not None and not _is_missed(schedule, passed.newest, work.now)
    if sent and passed.newest is not None:
        try:
            await requests.accept_event(work, _asked(schedule, passed.newest))
        except templates.TopicUnknown:
            await _suspend(work, schedule, "topic_unknown")
            return
        schedule.last_fired_at = work.now
        schedule.fired_count += 1
    schedule.missed_count += passed.count - sent
    _end_or_plan(work, schedule, passed.ahead, sent=sent)
    await work.save(schedule)


async def timing_of(read: Reader, schedule: Schedule) -> Timing:
    """When a schedule is due, with the public holidays known now."""
    extra = await configuration.value(read, EXTRA_HOLIDAYS)
    return Timing(
        datetime.fromisoformat(schedule.starts_at),
        schedule.time_zone,
        schedule.rrule,
        frozenset(datetime.fromisoformat(one) for one in schedule.exdates),
        schedule.on_non_working_day,  # type: ignore[arg-type]  # one of its values
        extra,
    )


async def _check(work: Work, schedule: Schedule, *, started: bool = False) -> None:
    starts_at = datetime.fromisoformat(schedule.starts_at)
    if not started and starts_at < work.now.replace(tzinfo=None) - MOST_PAST:
        raise RuleViolated(
            "The start can be at most 400 days in the past.", rule="NOT-38", field="startsAt"
        )
    if schedule.rrule is not None:
        try:
            recurrence(schedule.rrule, starts_at, schedule.time_zone)
        except RuleRefused as refused:
            detail = _FAULTS[refused.fault]
            error = {"pointer": "/rrule", "code": refused.fault, "detail": detail}
            raise RuleNotUsable(detail, errors=[error]) from None
    await requests.check(work, _asked(schedule, None))


def _kind(fields: ScheduleFields) -> str:
    return "once" if fields.rrule is None else "recurring"


def _asked(schedule: Schedule, occasion: Occasion | None) -> Asked:
    """The stored message; its key names the occasion, so each is sent once."""
    stored = schedule.request
    return Asked(
        topic_code=stored["topic_code"],
        source_domain="notification",
        facts=stored["facts"],
        audience=[Target.model_validate(one) for one in stored["audience"]],
        about=Reference.model_validate(stored["about"]),
        exclude_actor=stored["exclude_actor"],
        requested_by=schedule.acts_for if schedule.acts_for_kind == "user" else None,
        channel_kinds=stored["channel_kinds"],
        acknowledgement=stored["acknowledgement"],
        dedupe_key=f"schedule {schedule.id} {occasion.local.isoformat()}" if occasion else None,
    )


def _plan(schedule: Schedule, passed: Passed) -> None:
    if passed.ahead is None:
        raise ScheduleEmpty()
    schedule.next_local = passed.ahead.rule_time.isoformat()
    schedule.next_check_at = passed.ahead.at


def _end_or_plan(work: Work, schedule: Schedule, ahead: Occasion | None, *, sent: bool) -> None:
    schedule.next_local = ahead.rule_time.isoformat() if ahead else None
    schedule.next_check_at = ahead.at if ahead else None
    if ahead is None and not sent and schedule.kind == "once":
        ScheduleLifecycle.miss(schedule, at=work.now)
    elif ahead is None:
        ScheduleLifecycle.complete(schedule, at=work.now)


def _is_missed(schedule: Schedule, newest: Occasion, now: datetime) -> bool:
    """Whether even the newest occasion is too late to be sent."""
    grace = timedelta(minutes=schedule.misfire_grace)
    return now - newest.at > (grace if schedule.misfire == "fire_once" else _ON_TIME)


def _is_due(schedule: Schedule, now: datetime) -> bool:
    due = schedule.next_check_at
    return schedule.status is ScheduleStatus.ACTIVE and due is not None and due <= now


def _local(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


async def _suspend(work: Work, schedule: Schedule, reason: str) -> None:
    """Stop, and tell those who can cancel it or set it up anew."""
    ScheduleLifecycle.suspend(schedule, at=work.now)
    schedule.suspended_reason = reason
    schedule.next_check_at = schedule.next_local = None
    await work.save(schedule)
    await requests.accept_event(
        work,
        Asked(
            topic_code=SUSPENDED_TOPIC,
            source_domain="notification",
            facts={"name": schedule.name},
            audience=[Target(kind="permission", permission=Permission.PREFERENCE_MANAGE)],
            about=Reference(domain="notification", type="schedule", id=schedule.id),
            dedupe_key=f"schedule suspended {schedule.id}",
            exclude_actor=False,
        ),
    )
