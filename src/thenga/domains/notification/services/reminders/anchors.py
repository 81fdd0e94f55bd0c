"""Deadlines of other domains, and the reminders that follow them (NOT-39)."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
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
from thenga.domains.notification.tables import (
    Anchor,
    AnchorState,
    Reminder,
    ReminderStatus,
    Request,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.values.references import Reference

AnchorKind = Literal["deadline", "closing", "briefing", "expiry", "renewal", "payment"]

MOVED_TOPIC = "notification.deadline_moved"
WITHDRAWN_TOPIC = "notification.deadline_withdrawn"
WITHDRAWN = "anchor_withdrawn"
_BATCH = 200
_MOST_ORGANIZATIONS = 100_000

follow_everywhere = job_stub(
    "notification.follow_everywhere",
    form=Form.QUEUED,
    key="{reference_key}:{kind}:{sequence}",
    as_system=True,
)
follow_date = job_stub(
    "notification.follow_date", form=Form.QUEUED, key="{reference_key}:{kind}:{sequence}"
)


@dataclass(frozen=True, slots=True)
class News:
    """A message for those who have a reminder on something."""

    topic_code: str
    key: str
    facts: dict[str, str]

    def to_text(self) -> str:
        """As a job carries it."""
        return json.dumps(asdict(self))


async def enqueue_followers(
    work: Work,
    reference_key: str,
    *,
    kind: str,
    due_at: datetime | None,
    time_zone: str,
    sequence: int,
    beside_key: str | None,
    news: str | None,
) -> None:
    """Have every organization follow a date of a shared tender; for a job of the system login.

    Those that have a reminder on `beside_key`, such as on the tender of a briefing, follow it too.
    """
    keys = [reference_key] if beside_key is None else [reference_key, beside_key]
    statement = select(Anchor.organization_id).where(among(Anchor.reference_key, keys)).distinct()
    for organization_id in await work.values(statement, limit=_MOST_ORGANIZATIONS):
        work.enqueue(
            follow_date,
            organization_id=organization_id,
            reference_key=reference_key,
            kind=kind,
            due_at=due_at,
            time_zone=time_zone,
            sequence=sequence,
            beside_key=beside_key,
            news=news,
        )


async def follow(
    work: Work,
    reference: Reference,
    kind: AnchorKind,
    *,
    due_at: datetime | None,
    time_zone: str,
    sequence: int,
    beside: Reference | None = None,
    news: News | None = None,
) -> None:
    """Move a date or withdraw it, and tell the news to those who have a reminder.

    Nobody who has just been told that the deadline moved is told the news as well.
    """
    if due_at is None:
        await withdraw_anchor(work, reference, kind, sequence=sequence)
    else:
        await move_anchor(
            work, reference, kind, due_at=due_at, time_zone=time_zone, sequence=sequence
        )
    if news is not None:
        followed = [reference] if beside is None else [reference, beside]
        await _tell_news(work, followed, news, sequence=sequence, deadline_at=due_at)


async def _tell_news(
    work: Work,
    followed: Sequence[Reference],
    news: News,
    *,
    sequence: int,
    deadline_at: datetime | None,
) -> None:
    statement = select(Anchor).where(
        Anchor.organization_id == work.organization_id,
        among(Anchor.reference_key, [key_of(one) for one in followed]),
    )
    on: list[Reminder] = []
    for anchor in await work.all(statement.order_by(Anchor.id)):
        asked = _key_of_change(anchor, sequence)
        if await work.find(Request, source_domain="notification", dedupe_key=asked) is not None:
            return
        on += await _reminders_on(work, anchor)
    if not on:
        return
    event_id = work.origin.causation_id
    await requests.accept_event(
        work,
        Asked(
            topic_code=news.topic_code,
            source_domain=news.topic_code.partition(".")[0],
            facts=news.facts,
            audience=_audience_of(on),
            about=followed[-1],
            dedupe_key=news.key,
            exclude_actor=False,
            deadline_at=deadline_at,
            causation_event_id=UUID(event_id) if event_id else None,
        ),
    )


async def is_covered(read: Reader, dates: Sequence[Reference], target: Target) -> bool:
    """Whether a reminder on one of these dates goes to all people of a target anyway."""
    anchored = select(Anchor.id).where(
        Anchor.organization_id == read.organization_id,
        among(Anchor.reference_key, [key_of(one) for one in dates]),
    )
    statement = select(Reminder).where(
        Reminder.organization_id == read.organization_id,
        among(Reminder.anchor_id, await read.values(anchored)),
        Reminder.status != ReminderStatus.CANCELLED.value,
    )
    audience = _audience_of(await read.all(statement))
    return any(one.kind == "members" or one == target for one in audience)


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


def reference_of(key: str) -> Reference:
    domain, kind, row_id = key.split("/")
    return Reference(domain=domain, type=kind, id=UUID(row_id))


def _key_of_change(anchor: Anchor, sequence: int) -> str:
    return f"anchor {anchor.id} {sequence}"


def _audience_of(on: Iterable[Reminder]) -> list[Target]:
    found = [Target.model_validate(target) for one in on for target in one.audience]
    return list({one.model_dump_json(): one for one in found}.values())


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
    await requests.accept_event(
        work,
        Asked(
            topic_code=topic,
            source_domain="notification",
            facts=facts,
            audience=_audience_of(on),
            about=Reference.model_validate(anchor.reference),
            dedupe_key=_key_of_change(anchor, anchor.sequence),
            exclude_actor=False,
            deadline_at=anchor.due_at,
        ),
    )
