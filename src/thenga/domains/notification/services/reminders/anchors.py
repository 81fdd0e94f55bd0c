"""Deadlines of other domains, and the reminders that follow them (NOT-39)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.notification.public import Target
from thenga.domains.notification.services import requests, templates
from thenga.domains.notification.services.reminders import occurrences
from thenga.domains.notification.services.reminders.occurrences import Reanchored
from thenga.domains.notification.services.requests import Asked
from thenga.domains.notification.tables import Anchor, AnchorState, Reminder, ReminderStatus
from thenga.kernel.db.work import Work
from thenga.kernel.values.references import Reference

AnchorKind = Literal["deadline", "closing", "briefing", "expiry", "renewal", "payment"]

MOVED_TOPIC = "notification.deadline_moved"
WITHDRAWN_TOPIC = "notification.deadline_withdrawn"
WITHDRAWN = "anchor_withdrawn"
_BATCH = 200


async def move_anchor(
    work: Work,
    reference: Reference,
    kind: AnchorKind,
    *,
    due_at: datetime,
    time_zone: str,
    sequence: int,
) -> Anchor:
    """Set a deadline and move the reminders on it. An older sequence changes nothing.

    People who know the old deadline are told once about the new one.
    """
    anchor = await lock_anchor(work, reference, kind)
    if sequence <= anchor.sequence:
        return anchor
    anchor.state, anchor.sequence = AnchorState.SET, sequence
    anchor.due_at, anchor.time_zone = due_at, time_zone
    await work.save(anchor)
    moved = []
    for reminder in await _reminders_on(work, anchor):
        found = await occurrences.reanchor(work, reminder, anchor)
        await work.save(reminder)
        moved += [found] if found is not None and found.told else []
    await _tell_moved(work, anchor, moved)
    return anchor


async def withdraw_anchor(
    work: Work, reference: Reference, kind: AnchorKind, *, sequence: int
) -> None:
    """Cancel the reminders on a deadline that no longer applies, and tell people once."""
    anchor = await lock_anchor(work, reference, kind)
    if sequence <= anchor.sequence:
        return
    anchor.state, anchor.sequence = AnchorState.WITHDRAWN, sequence
    was, anchor.due_at = anchor.due_at, None
    await work.save(anchor)
    cancelled = []
    for reminder in await _reminders_on(work, anchor):
        if reminder.status is not ReminderStatus.DONE:
            await occurrences.cancel(work, reminder, WITHDRAWN)
            cancelled.append(reminder)
    if cancelled and was is not None:
        facts = {"matter": matter_of(cancelled[0]), "dueAt": was.isoformat()}
        await _tell(work, anchor, WITHDRAWN_TOPIC, facts, cancelled)


async def lock_anchor(work: Work, reference: Reference, kind: AnchorKind) -> Anchor:
    """The deadline, locked; one that nobody has told us yet is expected (insert first)."""
    key = key_of(reference)
    known = await work.find(Anchor, reference_key=key, kind=kind)
    if known is None:
        await work.run("SAVEPOINT anchor")
        try:
            await work.add(
                Anchor(
                    organization_id=work.organization_id,
                    reference=reference.model_dump(mode="json"),
                    reference_key=key,
                    kind=kind,
                    state=AnchorState.EXPECTED,
                )
            )
        except asyncpg.UniqueViolationError:
            await work.run("ROLLBACK TO SAVEPOINT anchor")
    return await work.lock_by(Anchor, beside=True, reference_key=key, kind=kind)


def key_of(reference: Reference) -> str:
    return f"{reference.domain}/{reference.type}/{reference.id}"


def matter_of(reminder: Reminder) -> str:
    """What a reminder is about, in words."""
    facts = reminder.facts
    return facts.get("title") or templates.topics()[reminder.topic_code].title


async def _reminders_on(work: Work, anchor: Anchor) -> list[Reminder]:
    """The reminders that follow a deadline, locked in the order of their IDs."""
    found: list[Reminder] = []
    after: UUID | None = None
    while True:
        statement = (
            select(Reminder.id)
            .where(Reminder.organization_id == work.organization_id)
            .where(Reminder.anchor_id == anchor.id)
            .where(Reminder.status != ReminderStatus.CANCELLED.value)
            .order_by(Reminder.id)
        )
        if after is not None:
            statement = statement.where(Reminder.id > after)
        batch = await work.values(statement, limit=_BATCH)
        for reminder_id in batch:
            reminder = await work.lock(Reminder, reminder_id, beside=True)
            if reminder.status is not ReminderStatus.CANCELLED:
                found.append(reminder)
        if len(batch) < _BATCH:
            return found
        after = batch[-1]


async def _tell_moved(work: Work, anchor: Anchor, moved: Sequence[Reanchored]) -> None:
    if not moved or anchor.due_at is None:
        return
    facts = {
        "matter": matter_of(moved[0].reminder),
        "fromDueAt": moved[0].from_due_at.isoformat(),
        "toDueAt": anchor.due_at.isoformat(),
    }
    await _tell(work, anchor, MOVED_TOPIC, facts, [one.reminder for one in moved])


async def _tell(
    work: Work, anchor: Anchor, topic: str, facts: dict[str, str], on: Iterable[Reminder]
) -> None:
    """One request for all reminders on a deadline, so that each person is told once."""
    audience = [Target.model_validate(target) for one in on for target in one.audience]
    await requests.accept_event(
        work,
        Asked(
            topic_code=topic,
            source_domain="notification",
            facts=facts,
            audience=list({one.model_dump_json(): one for one in audience}.values()),
            about=Reference.model_validate(anchor.reference),
            dedupe_key=f"anchor {anchor.id} {anchor.sequence}",
            exclude_actor=False,
            deadline_at=anchor.due_at,
        ),
    )
