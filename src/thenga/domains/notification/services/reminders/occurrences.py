"""The times of a reminder: armed, sent, skipped, and armed again when its deadline moves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.notification import public
from thenga.domains.notification.lifecycles import ReminderLifecycle
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.public import Offset, Target
from thenga.domains.notification.services import requests
from thenga.domains.notification.services.reminders.acting import NOT_ALLOWED, is_allowed
from thenga.domains.notification.services.reminders.offsets import Rearmed, due, rearm
from thenga.domains.notification.services.requests import Asked
from thenga.domains.notification.tables import (
    Anchor,
    Notification,
    Reminder,
    ReminderOccurrence,
    ReminderStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.values.calendar import HOME_ZONE
from thenga.kernel.values.references import Reference

_MOST = 1000


@dataclass(frozen=True, slots=True)
class Reanchored:
    """A reminder whose deadline moved, and whether people know the old one."""

    reminder: Reminder
    from_due_at: datetime
    told: bool


async def occurrences_of(
    read: Reader, reminder_ids: Iterable[UUID]
) -> dict[UUID, list[ReminderOccurrence]]:
    """The times of each reminder, in the order in which they are due."""
    found: dict[UUID, list[ReminderOccurrence]] = {one: [] for one in reminder_ids}
    if found:
        statement = (
            select(ReminderOccurrence)
            .where(ReminderOccurrence.organization_id == read.organization_id)
            .where(among(ReminderOccurrence.reminder_id, list(found)))
            .order_by(ReminderOccurrence.due_at, ReminderOccurrence.id)
        )
        for one in await read.all(statement, limit=_MOST * len(found)):
            found[one.reminder_id].append(one)
    return found


async def arm(work: Work, reminder: Reminder) -> None:
    """Store every time of a reminder with a known deadline; what is past is skipped."""
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    ahead = []
    for index, at in enumerate(_times(reminder, extra)):
        is_past = at <= work.now
        await _add(work, reminder, index, at, skipped="already_past" if is_past else None)
        ahead += [] if is_past else [at]
    reminder.next_check_at = min(ahead, default=None)


async def times_ahead(read: Reader, reminder: Reminder) -> bool:
    """Whether any time of a reminder with a known deadline lies ahead."""
    extra = await configuration.value(read, EXTRA_HOLIDAYS)
    return any(at > read.now for at in _times(reminder, extra))


async def reanchor(work: Work, reminder: Reminder, anchor: Anchor) -> Reanchored | None:
    """Follow a moved deadline (NOT-39): what is ahead is armed, fired or not; the past collapses.

    The reminder is locked. None if it had no deadline before or the deadline stays.
    """
    before, at = reminder.due_at, anchor.due_at
    reminder.anchor_sequence = anchor.sequence
    if at is None or (before == at and reminder.time_zone == anchor.time_zone):
        return None
    reminder.due_at, reminder.time_zone = at, anchor.time_zone
    if before is None:
        ReminderLifecycle.anchor(reminder, at=work.now)
        await arm(work, reminder)
        finish_if_done(work, reminder)
        return None
    latest, repeats = _latest(await _held(work, reminder))
    fired = {index for index, one in latest.items() if one.fired_at is not None}
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    offsets, zone = offsets_of(reminder), _zone(reminder)
    found = rearm(offsets, at, zone, fired=fired, now=work.now, extra=extra)
    await _move(work, reminder, found, latest, repeats)
    work.publish(
        public.ReminderReanchored(
            organization_id=reminder.organization_id,
            reminder_id=reminder.id,
            reference=Reference.model_validate(anchor.reference),
            from_due_at=before,
            to_due_at=at,
            anchor_sequence=anchor.sequence,
            rearmed=found.rearmed,
            collapsed=found.collapsed,
        )
    )
    return Reanchored(reminder, before, told=bool(fired) or found.collapsed > 0)


async def _move(
    work: Work,
    reminder: Reminder,
    found: Rearmed,
    latest: Mapping[int, ReminderOccurrence],
    repeats: Sequence[ReminderOccurrence],
) -> None:
    """Arm the times that lie ahead of a moved deadline, and skip those that do not."""
    again = {index for index in found.due_at if not _is_open(latest[index])}
    reminder.round += 1 if again else 0
    for index, one in latest.items():
        if index in again:
            await _add(work, reminder, index, found.due_at[index])
        elif index in found.due_at:
            one.due_at = found.due_at[index]
        elif _is_open(one):
            one.skipped_reason = "moved"
        await work.save(one)
    for one in repeats:
        one.skipped_reason = "moved" if _is_open(one) else one.skipped_reason
        await work.save(one)
    if found.due_at and reminder.status is ReminderStatus.DONE:
        ReminderLifecycle.reanchor(reminder, at=work.now)
    reminder.next_check_at = min(found.due_at.values(), default=None)
    finish_if_done(work, reminder)
    await work.save(reminder)


async def fire_reminder(work: Work, reminder_id: UUID) -> None:
    """Send the newest time that is due; older ones and those after the deadline are skipped."""
    known = await work.get(Reminder, reminder_id)
    if not _is_due(known, work.now):
        return
    allowed = known.acts_for is None or await is_allowed(
        work, known.acts_for, known.acts_for_kind, Permission.REMINDER_CREATE
    )
    reminder = await work.lock(Reminder, reminder_id)
    if not _is_due(reminder, work.now):
        return
    if not allowed:
        await cancel(work, reminder, NOT_ALLOWED)
        return
    everything = await _held(work, reminder)
    waiting = [one for one in everything if _is_open(one)]
    ready = [one for one in waiting if one.due_at <= work.now]
    for one in ready[:-1]:
        one.skipped_reason = "superseded"
        await work.save(one)
    rest = waiting[len(ready) :]
    if ready:
        await _send_or_skip(work, reminder, ready[-1], everything)
        following = _next_repeat(reminder, ready[-1], await _extra(work)) if not rest else None
        if following is not None:
            rest = [await _add(work, reminder, ready[-1].offset_index, following, ready[-1])]
    reminder.next_check_at = min((one.due_at for one in rest), default=None)
    finish_if_done(work, reminder)
    await work.save(reminder)


async def cancel(work: Work, reminder: Reminder, reason: str) -> bool:
    """Send nothing any more. The reminder is locked; whether it was not cancelled already."""
    if not ReminderLifecycle.cancel(reminder, at=work.now):
        return False
    reminder.cancelled_reason, reminder.next_check_at = reason, None
    for one in await _held(work, reminder):
        if _is_open(one):
            one.skipped_reason = "cancelled"
            await work.save(one)
    await work.save(reminder)
    return True


def finish_if_done(work: Work, reminder: Reminder) -> None:
    """A reminder without a time ahead is done."""
    if reminder.status is ReminderStatus.ACTIVE and reminder.next_check_at is None:
        ReminderLifecycle.finish(reminder, at=work.now)


def offsets_of(reminder: Reminder) -> list[Offset]:
    return [Offset.model_validate(one) for one in reminder.offsets]


async def _send_or_skip(
    work: Work,
    reminder: Reminder,
    occurrence: ReminderOccurrence,
    everything: Sequence[ReminderOccurrence],
) -> None:
    until = (reminder.repeat or {}).get("until")
    is_late = reminder.due_at is not None and work.now >= reminder.due_at
    if is_late and not (occurrence.repeat_no and until == "acknowledged"):
        occurrence.skipped_reason = "deadline_passed"
    elif (
        occurrence.repeat_no
        and until == "acknowledged"
        and await _is_acknowledged(work, everything)
    ):
        occurrence.skipped_reason = "acknowledged"
    else:
        request = await requests.accept_event(work, _asked(reminder, occurrence))
        occurrence.fired_at, occurrence.request_id = work.now, request.id
    await work.save(occurrence)


def _asked(reminder: Reminder, occurrence: ReminderOccurrence) -> Asked:
    number = f"{occurrence.round} {occurrence.offset_index} {occurrence.repeat_no}"
    until = (reminder.repeat or {}).get("until")
    return Asked(
        topic_code=reminder.topic_code,
        source_domain=reminder.source_domain,
        facts=reminder.facts,
        audience=[Target.model_validate(one) for one in reminder.audience],
        about=Reference.model_validate(reminder.about),
        dedupe_key=f"reminder {reminder.id} {number}",
        exclude_actor=False,
        requested_by=reminder.acts_for if reminder.acts_for_kind == "user" else None,
        acknowledgement="required" if until == "acknowledged" else "none",
        deadline_at=reminder.due_at,
    )


async def _is_acknowledged(read: Reader, sent: Sequence[ReminderOccurrence]) -> bool:
    """Whether somebody acknowledged a message of this reminder."""
    statement = (
        select(Notification.id)
        .where(Notification.organization_id == read.organization_id)
        .where(among(Notification.request_id, [one.request_id for one in sent if one.request_id]))
        .where(Notification.acknowledged_at.is_not(None))
    )
    return bool(await read.values(statement, limit=1))


def _next_repeat(
    reminder: Reminder, last: ReminderOccurrence, extra: frozenset[date]
) -> datetime | None:
    """When the last offset is repeated, as long as its limits allow."""
    repeat = reminder.repeat
    if repeat is None or last.repeat_no >= repeat["max"] or last.skipped_reason is not None:
        return None
    step = Offset.model_validate({"before": repeat["every"], "calendar": repeat["calendar"]})
    # A step forward is an offset of negative length.
    forward = Offset(before=-step.before, calendar=step.calendar)
    at = due(forward, last.due_at, _zone(reminder), extra=extra)
    if repeat["until"] == "anchor" and (reminder.due_at is None or at >= reminder.due_at):
        return None
    return at


async def _add(
    work: Work,
    reminder: Reminder,
    index: int,
    at: datetime,
    repeats: ReminderOccurrence | None = None,
    *,
    skipped: str | None = None,
) -> ReminderOccurrence:
    return await work.add(
        ReminderOccurrence(
            organization_id=reminder.organization_id,
            reminder_id=reminder.id,
            round=repeats.round if repeats else reminder.round,
            offset_index=index,
            repeat_no=repeats.repeat_no + 1 if repeats else 0,
            due_at=at,
            skipped_reason=skipped,
        )
    )


async def _held(work: Work, reminder: Reminder) -> list[ReminderOccurrence]:
    """All times of a reminder, held with it."""
    found = (await occurrences_of(work, [reminder.id]))[reminder.id]
    for one in found:
        await work.hold(one)
    return found


async def _extra(read: Reader) -> frozenset[date]:
    return await configuration.value(read, EXTRA_HOLIDAYS)


def _latest(
    found: Sequence[ReminderOccurrence],
) -> tuple[dict[int, ReminderOccurrence], list[ReminderOccurrence]]:
    """The newest time of each offset, and all repeats."""
    latest: dict[int, ReminderOccurrence] = {}
    for one in sorted(found, key=lambda one: one.round):
        if one.repeat_no == 0:
            latest[one.offset_index] = one
    return latest, [one for one in found if one.repeat_no]


def _times(reminder: Reminder, extra: frozenset[date]) -> list[datetime]:
    if reminder.due_at is None:
        return []
    zone = _zone(reminder)
    return [due(one, reminder.due_at, zone, extra=extra) for one in offsets_of(reminder)]


def _zone(reminder: Reminder) -> str:
    return reminder.time_zone or HOME_ZONE


def _is_open(one: ReminderOccurrence) -> bool:
    return one.fired_at is None and one.skipped_reason is None


def _is_due(reminder: Reminder, now: datetime) -> bool:
    at = reminder.next_check_at
    return reminder.status is ReminderStatus.ACTIVE and at is not None and at <= now
