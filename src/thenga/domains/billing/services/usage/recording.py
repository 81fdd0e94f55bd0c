"""Usage records: counted once, in the month they happened (BIL-19, BIL-20, BIL-24).

Usage is recorded above a limit too; refusing is the signal's task. A bad entry does not affect the
rest of its batch.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.public import EntryOutcome, UsageReceipt
from thenga.domains.billing.services import catalogue, entitlements, metering
from thenga.domains.billing.services.metering import Moved, UsageCalendar
from thenga.domains.billing.services.usage import limit_watch, open_items
from thenga.domains.billing.tables import STANDING, MeterKind, UsageRecord
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.values.ids import new_id

MAX_ENTRIES = 1000
_MOST_QUANTITY = 10**9
_AHEAD, _BACK = timedelta(minutes=5), timedelta(days=35)

# One statement, with the totals last, because their locks block other reporters of this
# organization until the commit. Keys are in order, so that batches with the same keys
# never deadlock. Usage for a month that is already billed is late
# (BIL-20). Existing records are compared here too.
_RECORD = """
    WITH sent AS (
        SELECT one.id, one.meter, one.key, one.quantity, one.occurred_at,
            one.subject::jsonb AS subject, coalesce(one.operation, 'add') AS operation,
            one.usage_month, one.place, billed.usage_month IS NOT NULL AS late
        FROM unnest($3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[],
            $8::text[], $9::text[], $10::date[]) WITH ORDINALITY
            AS one (id, meter, key, quantity, occurred_at, subject, operation, usage_month, place)
        LEFT JOIN billing.usage_month billed ON billed.organization_id = $2
            AND billed.usage_month = one.usage_month AND billed.billed_at IS NOT NULL
    ), inserted AS (
        INSERT INTO billing.usage_record (id, created_at, updated_at, version, organization_id,
            meter, key, quantity, occurred_at, subject, operation, usage_month, late)
        SELECT id, $1, $1, 1, $2, meter, key, quantity, occurred_at, subject, operation,
            usage_month, late
        FROM sent ORDER BY place
        ON CONFLICT (organization_id, meter, key) DO NOTHING
        RETURNING id, meter, usage_month, quantity, late
    ), known AS (
        SELECT sent.id, was.subject IS NOT DISTINCT FROM sent.subject AND
            (was.quantity, was.occurred_at, was.operation)
            = (sent.quantity, sent.occurred_at, sent.operation) AS same
        FROM sent CROSS JOIN LATERAL (
            SELECT quantity, occurred_at, operation, subject FROM billing.usage_record
            WHERE organization_id = $2 AND meter = sent.meter AND key = sent.key LIMIT 1
        ) was
        WHERE sent.id NOT IN (SELECT id FROM inserted)
    ), summed AS (
        SELECT meter, usage_month, sum(quantity)::bigint AS added FROM inserted
        WHERE meter = ANY ($11::text[]) GROUP BY meter, usage_month ORDER BY meter, usage_month
    ), totalled AS (
        INSERT INTO billing.usage_total AS known (id, created_at, updated_at, version,
            organization_id, meter, usage_month, quantity, reserved, billed_quantity)
        SELECT gen_random_uuid(), $1, $1, 1, $2, meter, usage_month, added, 0, 0 FROM summed
        ON CONFLICT (organization_id, meter, usage_month) DO UPDATE
        SET quantity = least(least(known.quantity, 1000000000000000) + excluded.quantity,
                1000000000000000), updated_at = $1, version = known.version + 1
        RETURNING meter, usage_month, quantity + reserved AS taken
    )
    SELECT (SELECT array_agg(id) FROM inserted) AS new,
        (SELECT array_agg(id) FROM inserted WHERE late) AS late,
        (SELECT array_agg(id) FROM known WHERE same) AS same,
        (SELECT array_agg(id) FROM known WHERE NOT same) AS other,
        NULL AS meter, NULL::date AS usage_month, NULL::bigint AS taken, NULL::bigint AS added
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, meter, usage_month, taken, added
    FROM totalled JOIN summed USING (meter, usage_month)
"""
_KNOWN = """
    SELECT r.meter, r.key, r.quantity, r.occurred_at, r.subject, r.operation
    FROM unnest($2::text[], $3::text[]) AS one (meter, key)
    CROSS JOIN LATERAL (
        SELECT * FROM billing.usage_record
        WHERE organization_id = $1 AND meter = one.meter AND key = one.key LIMIT 1
    ) r
"""
_ACCEPTED = EntryOutcome(outcome="accepted")
_LATE = EntryOutcome(outcome="accepted", late=True)
_DUPLICATE = EntryOutcome(outcome="duplicate")
_CONFLICT = EntryOutcome(outcome="rejected", code="billing-key-conflict")


class UsageEntry(NamedTuple):
    """One reported use. A tuple, because batches are large."""

    meter: str
    key: str
    quantity: int
    occurred_at: datetime
    subject: dict[str, str] | None = None
    operation: str = "add"


class Row(NamedTuple):
    """A valid entry with its month and its position in the batch."""

    place: int
    entry: UsageEntry
    kind: MeterKind
    month: date
    key: tuple[str, str]
    id: UUID


async def record_usage(work: Work, entries: Sequence[UsageEntry]) -> UsageReceipt:
    """Count new entries and return the outcome of each."""
    held = await entitlements.current_set(work)
    if held is None:
        raise DependencyUnavailable(
            "The billing account of this organization is being opened. Try again in a few seconds.",
            headers={"Retry-After": "2"},
            dependency="organization",
        )
    kinds, watch = await catalogue.meter_kinds(work), await limit_watch.watch(work, held)
    outcomes: dict[int, EntryOutcome] = {}
    # By the base clock: a sandbox's may have been moved between the use and its report.
    oldest = work.now_in(timedelta(0)) - _BACK
    calendar = await entitlements.usage_calendar_of(work, held, since=oldest)
    rows = _countable(entries, kinds, calendar, (oldest, work.now + _AHEAD), outcomes)
    moves = await _write(work, _firsts(rows, outcomes), outcomes)
    await limit_watch.publish_crossings(work, moves, watch)
    return receipt([outcomes[place] for place in range(len(entries))])


def receipt(items: list[EntryOutcome]) -> UsageReceipt:
    """The outcomes of a batch, counted."""
    said = [item.outcome for item in items]
    return UsageReceipt(
        accepted=said.count("accepted"),
        duplicate=said.count("duplicate"),
        rejected=said.count("rejected"),
        items=items,
    )


def _countable(
    entries: Sequence[UsageEntry],
    kinds: Mapping[str, MeterKind],
    calendar: UsageCalendar,
    between: tuple[datetime, datetime],
    outcomes: dict[int, EntryOutcome],
) -> list[Row]:
    rows = []
    for place, entry in enumerate(entries):
        kind = kinds.get(entry.meter)
        code = fault(entry, kind, between)
        if code is not None or kind is None:
            outcomes[place] = _rejected(code or "billing-meter-unknown")
            continue
        month = calendar.month_of(entry.occurred_at)
        rows.append(Row(place, entry, kind, month, (entry.meter, entry.key), new_id()))
    return rows


def fault(
    entry: UsageEntry, kind: MeterKind | None, between: tuple[datetime, datetime]
) -> str | None:
    """Why an entry cannot be counted. None if it can."""
    oldest, newest = between
    if kind is None:
        return "billing-meter-unknown"
    least = 0 if kind is MeterKind.TOLD else 1
    if not least <= entry.quantity <= _MOST_QUANTITY:
        return "billing-quantity-invalid"
    if entry.occurred_at > newest:
        return "billing-usage-in-future"
    if entry.occurred_at < oldest:
        return "billing-usage-too-old"
    if kind is not MeterKind.GAUGE:
        return None if entry.operation == "add" else "billing-operation-invalid"
    named = entry.subject is not None and entry.subject.keys() >= open_items.NAMES
    return None if named and entry.operation != "add" else "billing-operation-invalid"


def _firsts(rows: Sequence[Row], outcomes: dict[int, EntryOutcome]) -> list[Row]:
    """The first entry of each key. Repeats in a batch are compared with it."""
    firsts: dict[tuple[str, str], Row] = {}
    for row in rows:
        first = firsts.setdefault(row.key, row)
        if first is not row:
            outcomes[row.place] = _again(row.entry, _content(first.entry))
    return [firsts[key] for key in sorted(firsts)]


async def _write(work: Work, rows: Sequence[Row], outcomes: dict[int, EntryOutcome]) -> list[Moved]:
    if not rows:
        return []
    counters = sorted({row.entry.meter for row in rows if row.kind is MeterKind.COUNTER})
    found = await work.query(_RECORD, work.now, work.organization_id, *_columns(rows), counters)
    said = next(record for record in found if record["meter"] is None)
    new = set(said["new"] or ())
    known = _outcomes(said)
    for row in rows:
        if row.id in known:
            outcomes[row.place] = known[row.id]
    await _judge(work, [row for row in rows if row.id not in known], outcomes)
    moves = [
        Moved(
            record["meter"],
            record["usage_month"],
            record["taken"] - record["added"],
            record["taken"],
        )
        for record in found
        if record["meter"] is not None
    ]
    standing = [row for row in rows if row.kind is not MeterKind.COUNTER and row.id in new]
    return [*moves, *await _standing(work, standing)]


def _outcomes(found: Mapping[str, Any]) -> dict[UUID, EntryOutcome]:
    """The outcome of each row, by its id."""
    said: dict[UUID, EntryOutcome] = {}
    columns = {"new": _ACCEPTED, "late": _LATE, "same": _DUPLICATE, "other": _CONFLICT}
    for column, outcome in columns.items():
        said |= dict.fromkeys(found[column] or (), outcome)
    return said


def _columns(rows: Sequence[Row]) -> list[list[Any]]:
    # Usually no entry has a subject, and these are empty.
    plain = all(row.entry.operation == "add" and row.entry.subject is None for row in rows)
    held = [] if plain else rows
    return [
        [row.id for row in rows],
        [row.entry.meter for row in rows],
        [row.entry.key for row in rows],
        [row.entry.quantity for row in rows],
        [row.entry.occurred_at for row in rows],
        [None if row.entry.subject is None else json.dumps(row.entry.subject) for row in held],
        [row.entry.operation for row in held],
        [row.month for row in rows],
    ]


async def _judge(work: Work, rows: Sequence[Row], outcomes: dict[int, EntryOutcome]) -> None:
    """The outcome of a key that another batch wrote concurrently: duplicate or conflict."""
    if not rows:
        return
    named = [[row.entry.meter for row in rows], [row.entry.key for row in rows]]
    found = await work.query(_KNOWN, work.organization_id, *named)
    known = {(record["meter"], record["key"]): tuple(record)[2:] for record in found}
    for row in rows:
        outcomes[row.place] = _again(row.entry, known[row.key])


def _content(entry: UsageEntry) -> tuple[Any, ...]:
    return entry[2:]


def _again(entry: UsageEntry, known: tuple[Any, ...]) -> EntryOutcome:
    return _DUPLICATE if _content(entry) == known else _CONFLICT


def _rejected(code: str) -> EntryOutcome:
    return EntryOutcome(outcome="rejected", code=code)


async def _standing(work: Work, rows: Sequence[Row]) -> list[Moved]:
    """Record meters that do not reset: open subjects and reported numbers.

    All subjects are locked before any total, in order of name, so batches never deadlock.
    """
    moved: dict[str, int] = {}
    for row in sorted(rows, key=_by_subject):
        entry = row.entry
        if row.kind is MeterKind.GAUGE and entry.subject is not None:
            by = await open_items.apply_subject(
                work, entry.meter, entry.subject, entry.operation, at=entry.occurred_at
            )
            moved[entry.meter] = moved.get(entry.meter, 0) + by
    moves = [
        await metering.add_usage(work, key, STANDING, by) for key, by in sorted(moved.items()) if by
    ]
    for row in sorted(rows, key=_by_subject):
        if row.kind is MeterKind.TOLD:
            entry = row.entry
            gauge = await metering.set_gauge(
                work, entry.meter, entry.quantity, counted_at=entry.occurred_at
            )
            moves += [gauge] if gauge is not None else []
    return moves


def _by_subject(row: Row) -> tuple[str, str, datetime]:
    subject = row.entry.subject
    return (
        row.entry.meter,
        open_items.subject_key(subject) if subject else "",
        row.entry.occurred_at,
    )


async def record_gauge(work: Work, meter: str, number: int, *, counted_at: datetime) -> None:
    """Store the number of a meter that another domain publishes. The newest wins (BIL-24)."""
    moved = await metering.set_gauge(work, meter, number, counted_at=counted_at)
    held = await entitlements.current_set(work) if moved is not None else None
    if moved is not None and held is not None:
        await limit_watch.publish_crossings(work, [moved], await limit_watch.watch(work, held))


async def list_records(
    read: Reader,
    paged: Paged,
    *,
    meter: str | None,
    occurred_from: datetime | None,
    occurred_to: datetime | None,
    late: bool | None,
) -> Slice[UsageRecord]:
    """The records as reported, for 13 months."""
    statement = select(UsageRecord)
    statement = where_given(statement, (UsageRecord.meter, meter))
    if occurred_from is not None:
        statement = statement.where(UsageRecord.occurred_at >= occurred_from)
    if occurred_to is not None:
        statement = statement.where(UsageRecord.occurred_at < occurred_to)
    if late is not None:
        statement = statement.where(UsageRecord.late.is_(late))
    return await read.page(statement, paged)
