"""Reminders before a deadline: created by people or kept for other domains (NOT-39)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal_column, select

from thenga.domains.notification.public import Offset, Target
from thenga.domains.notification.services import requests
from thenga.domains.notification.services.reminders import acting, anchors, occurrences
from thenga.domains.notification.services.reminders.anchors import AnchorKind
from thenga.domains.notification.services.requests import Asked
from thenga.domains.notification.tables import Reminder, ReminderStatus
from thenga.domains.opportunity.public import Tenders
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    ERRORS,
    FieldError,
    Problem,
    ValidationFailed,
    extensions,
)
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.references import Reference

_NEVER: ColumnElement[datetime] = literal_column("timestamptz '9999-12-31 00:00Z'", Instant)
_BY: dict[str, ColumnElement[datetime]] = {
    "createdAt": Reminder.created_at,
    "nextCheckAt": func.coalesce(Reminder.next_check_at, _NEVER),
}


class AnchorUnknown(Problem):
    """This kind of deadline does not exist. `errors` lists the kinds you can use."""

    code, status, title = "notification-anchor-unknown", 422, "Unknown kind of deadline"
    members = extensions(errors=ERRORS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wished:
    """A reminder before it is stored. It has an anchor or a time of its own."""

    topic_code: str
    about: Reference
    audience: Sequence[Target]
    facts: Mapping[str, str]
    offsets: Sequence[Offset]
    anchor: Reference | None = None
    anchor_kind: str | None = None
    due_at: datetime | None = None
    time_zone: str | None = None
    repeat: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ReminderFilters:
    """Which reminders are listed; None is no filter."""

    status: ReminderStatus | None = None
    about_type: str | None = None
    about_id: UUID | None = None
    due_from: datetime | None = None
    due_to: datetime | None = None
    mine: bool = field(default=False)


async def create_reminder(work: Work, wished: Wished) -> Reminder:
    """Store a reminder of a person or an API key, checked as if it were sent now."""
    acts_for, kind = acting.requester(work)
    await requests.check(work, _asked(wished))
    reminder = _row(work, wished, source_domain="notification")
    reminder.acts_for, reminder.acts_for_kind = acts_for, kind
    if wished.anchor is not None:
        anchor_kind = _checked_kind(wished.anchor_kind)
        if _is_closing(wished.anchor, anchor_kind):
            await _learn_closing(work, wished.anchor)
        await _follow(work, reminder, wished.anchor, anchor_kind)
    await _check_ahead(work, reminder, wished)
    await work.add(reminder)
    await _arm(work, reminder)
    return reminder


async def set_reminder(work: Work, wished: Wished, *, key: str, sequence: int) -> UUID:
    """Keep a reminder for another domain: a higher sequence moves it, a lower changes nothing."""
    if wished.anchor is None or wished.due_at is None or wished.time_zone is None:
        raise LookupError("a reminder of another domain has a deadline")
    source = wished.anchor.domain
    known = await work.find(Reminder, source_domain=source, key=key)
    await requests.check_facts(work, _asked(wished))
    newer = known is not None and sequence >= (known.anchor_sequence or 0)
    anchor = await anchors.move_anchor(
        work,
        wished.anchor,
        "deadline",
        due_at=wished.due_at,
        time_zone=wished.time_zone,
        sequence=sequence,
    )
    if known is not None:
        if newer:
            await _replace_words(work, known.id, wished)
        return known.id
    reminder = _row(work, wished, source_domain=source)
    reminder.key, reminder.anchor_id = key, anchor.id
    reminder.due_at, reminder.time_zone = anchor.due_at, anchor.time_zone
    reminder.anchor_sequence, reminder.status = anchor.sequence, ReminderStatus.ACTIVE
    reminder, is_new = await work.add_or_find(
        reminder, by=("organization_id", "source_domain", "key")
    )
    if is_new:
        await _arm(work, reminder)
    return reminder.id


async def clear_reminder(work: Work, *, key: str, source_domain: str | None = None) -> None:
    """Cancel the reminder of this key. Nothing happens if there is none."""
    statement = select(Reminder).where(
        Reminder.organization_id == work.organization_id, Reminder.key == key
    )
    for known in await work.all(where_given(statement, (Reminder.source_domain, source_domain))):
        reminder = await work.lock(Reminder, known.id)
        if reminder.status in (ReminderStatus.ACTIVE, ReminderStatus.AWAITING_ANCHOR):
            await occurrences.cancel(work, reminder, "cleared")


async def cancel_reminder(work: Work, reminder_id: UUID) -> None:
    """Cancel a reminder; what was sent stays sent."""
    await occurrences.cancel(work, await work.lock(Reminder, reminder_id), "requested")


async def list_reminders(read: Reader, paged: Paged, filters: ReminderFilters) -> Slice[Reminder]:
    """The reminders of the organization, those of other domains included."""
    statement = where_given(
        select(Reminder),
        (Reminder.status, filters.status and filters.status.value),
        (Reminder.about["type"].as_string(), filters.about_type),
        (Reminder.about["id"].as_string(), filters.about_id and str(filters.about_id)),
        (Reminder.acts_for, read.actor.id if filters.mine else None),
    )
    if filters.due_from is not None:
        statement = statement.where(Reminder.due_at >= filters.due_from)
    if filters.due_to is not None:
        statement = statement.where(Reminder.due_at < filters.due_to)
    return await read.page(statement, paged, _BY[paged.sort])


def _is_closing(reference: Reference, kind: AnchorKind) -> bool:
    is_tender = (reference.domain, reference.type) == ("opportunity", "tenderOpportunity")
    return is_tender and kind == "closing"


async def _learn_closing(work: Work, tender: Reference) -> None:
    """Ask for the closing of a tender, once; events move it from then on.

    Whoever hears nothing, or may not see the tender, waits for the closing.
    """
    found = await asking(
        work,
        Tenders,
        lambda port: port.describe(organization_id=work.organization_id, tender_ids=[tender.id]),
        silent=None,
    )
    if found is None:
        return
    for one in found:
        if one.closing_at is not None:
            await anchors.move_anchor(
                work,
                tender,
                "closing",
                due_at=one.closing_at,
                time_zone=one.time_zone,
                sequence=one.sequence,
            )


async def _follow(work: Work, reminder: Reminder, reference: Reference, kind: AnchorKind) -> None:
    """Take the deadline of the anchor, or wait for it."""
    anchor = await anchors.lock_anchor(work, reference, kind)
    reminder.anchor_id, reminder.due_at = anchor.id, anchor.due_at
    reminder.time_zone = anchor.time_zone
    reminder.anchor_sequence = anchor.sequence if anchor.due_at is not None else None
    if anchor.due_at is None:
        reminder.status = ReminderStatus.AWAITING_ANCHOR


async def _arm(work: Work, reminder: Reminder) -> None:
    if reminder.status is ReminderStatus.AWAITING_ANCHOR:
        return
    await work.hold(reminder)
    await occurrences.arm(work, reminder)
    occurrences.finish_if_done(work, reminder)
    await work.save(reminder)


async def _replace_words(work: Work, reminder_id: UUID, wished: Wished) -> None:
    """Newer facts and recipients of another domain's reminder; its offsets stay."""
    reminder = await work.lock(Reminder, reminder_id)
    reminder.facts = dict(wished.facts)
    reminder.audience = [one.model_dump(mode="json") for one in wished.audience]
    await work.save(reminder)


async def _check_ahead(read: Reader, reminder: Reminder, wished: Wished) -> None:
    if reminder.due_at is None or await occurrences.times_ahead(read, reminder):
        return
    error: FieldError = {
        "pointer": "/offsets" if wished.anchor else "/dueAt",
        "code": "too_late",
        "detail": "All times of this reminder are in the past. Choose a later deadline.",
    }
    raise ValidationFailed(errors=[error])


def _checked_kind(kind: str | None) -> AnchorKind:
    for known in get_args(AnchorKind):
        if kind == known:
            found: AnchorKind = known
            return found
    detail = f"Use one of {', '.join(get_args(AnchorKind))}."
    raise AnchorUnknown(
        detail, errors=[{"pointer": "/anchor/kind", "code": "unknown", "detail": detail}]
    )


def _asked(wished: Wished) -> Asked:
    return Asked(
        topic_code=wished.topic_code,
        source_domain="notification",
        facts=wished.facts,
        audience=wished.audience,
        about=wished.about,
        exclude_actor=False,
    )


def _row(work: Work, wished: Wished, *, source_domain: str) -> Reminder:
    return Reminder(
        id=new_id(),
        organization_id=work.organization_id,
        source_domain=source_domain,
        topic_code=wished.topic_code,
        about=wished.about.model_dump(mode="json"),
        audience=[one.model_dump(mode="json") for one in wished.audience],
        facts=dict(wished.facts),
        due_at=wished.due_at,
        time_zone=wished.time_zone,
        offsets=[one.model_dump(mode="json") for one in wished.offsets],
        repeat=wished.repeat,
        status=ReminderStatus.ACTIVE,
    )
