"""Applies the records of a page, each by itself (OPP-5, OPP-8, OPP-50)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import asyncpg
import structlog
from sqlalchemy import select

from thenga.domains.opportunity.services import amendments, releases
from thenga.domains.opportunity.tables import Run, Source, SourceRecord
from thenga.domains.opportunity.values.feeds import FeedClock
from thenga.domains.opportunity.values.notices import Reading, Severity
from thenga.kernel.db.outages import may_pass
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import MalformedRequest
from thenga.kernel.http.json_guard import read_json
from thenga.kernel.values.ids import new_id

log = structlog.get_logger()
_LARGE = 20
_MOST_REJECTED = 5  # one in so many
_MOST_SHOWN = 100  # rejects that a run lists
COUNTS = (
    *("seen", "distinct", "created", "amended", "unchanged", "repaired", "rejected", "conflicts"),
)
_OCID_ONCE = "tender_opportunity_ocid_shared"  # the index over the shared tenders of all keepers
OCID_TAKEN, NOT_APPLIED = "ocid_taken", "not_applied"


@dataclass(frozen=True, slots=True)
class Received:
    """A record of a page: its bytes, where they stand in the page, and what was read."""

    raw_first: int
    raw_size: int
    reading: Reading


@dataclass
class Known:
    """What was received of the keys of a page before: the newest hash, and every record."""

    newest: dict[str, str] = field(default_factory=dict)
    records: dict[tuple[str, str], SourceRecord] = field(default_factory=dict)

    def is_same(self, reading: Reading) -> bool:
        """Whether this is what the source said the last time."""
        return self.newest.get(reading.source_key or "") == reading.content_hash


def clock_of(source: Source) -> FeedClock:
    """How a source writes its times."""
    is_faulty = source.clock_fault == "wall_time_as_utc"
    return FeedClock(source.time_zone, is_faulty, source.clock_fault_until)


def read_page(records: Sequence[bytes], source: Source, received_at: datetime) -> list[Received]:
    """Read every record of a page; pure, and nothing of a bad record is lost but the record."""
    found, first, clock = [], 0, clock_of(source)
    for raw in records:
        found.append(Received(first, len(raw), _read(raw, clock, received_at)))
        first += len(raw)
    return found


def _read(raw: bytes, clock: FeedClock, received_at: datetime) -> Reading:
    try:
        release: Any = read_json(raw)
    except MalformedRequest:
        release = None
    try:
        return releases.normalise(release, clock, received_at=received_at)
    except Exception:
        log.exception("opportunity.record.unreadable")
        return releases.unreadable(release)


def is_shape_changed(page: Sequence[Received]) -> bool:
    """Whether so much of a page is unreadable that the publisher must have changed its form."""
    rejected = sum(one.reading.is_rejected for one in page)
    return len(page) >= _LARGE and rejected * _MOST_REJECTED > len(page)


async def known_of(read: Reader, source: Source, page: Sequence[Received]) -> Known:
    """What was received before of the keys of a page."""
    keys = [one.reading.source_key for one in page if one.reading.source_key]
    statement = (
        select(SourceRecord)
        .where(SourceRecord.source_id == source.id, among(SourceRecord.source_key, keys))
        .order_by(SourceRecord.received_at, SourceRecord.id)
    )
    known = Known()
    for record in await read.all(statement, limit=20_000):
        known.newest[record.source_key] = record.content_hash
        known.records[record.source_key, record.content_hash] = record
    return known


async def apply_records(
    work: Work, run: Run, source: Source, page: Sequence[Received], object_key: str | None
) -> bool:
    """Write what is new of a page, and count it on the locked run; whether a new record names
    the bytes of the page."""
    known = await known_of(work, source, page)
    counts, seen = dict.fromkeys(COUNTS, 0) | run.counts, set(run.seen_keys)
    rejects = list(run.rejects)
    for place, received in enumerate(page):
        reading = received.reading
        counts["seen"] += 1
        if reading.is_rejected:
            counts["rejected"] += 1
            rejects.append(_reject_of(reading, place))
            continue
        key = str(reading.source_key)
        is_again = key in seen
        seen.add(key)
        if known.is_same(reading):
            counts["unchanged"] += not is_again
            continue
        outcome = await _attempt(work, run, source, received, known, object_key)
        if outcome in (OCID_TAKEN, NOT_APPLIED):
            counts["conflicts" if outcome == OCID_TAKEN else "rejected"] += 1
            rejects.append(_failed_at(key, place, outcome))
            continue
        known.newest[key] = str(reading.content_hash)
        counts[outcome] += 1
        counts["repaired"] += reading.is_repaired
        if outcome == "created":
            source.last_new_record_at = work.now
    counts["distinct"] = len(seen)
    run.counts, run.seen_keys = counts, sorted(seen)
    run.rejects = rejects[:_MOST_SHOWN]
    return any(record.object_key == object_key for record in known.records.values())


async def _attempt(
    work: Work,
    run: Run,
    source: Source,
    received: Received,
    known: Known,
    object_key: str | None,
) -> str:
    """The outcome of a record; whatever is wrong with it stops no other record (OPP-50)."""
    try:
        async with work.attempt():
            return await _apply(work, run, source, received, known, object_key)
    except asyncpg.UniqueViolationError as taken:
        if taken.constraint_name == _OCID_ONCE:
            return OCID_TAKEN
        log.exception("opportunity.record.failed", run_id=str(run.id))
    except Exception as error:
        if may_pass(error):
            raise
        log.exception("opportunity.record.failed", run_id=str(run.id))
    return NOT_APPLIED


async def _apply(
    work: Work,
    run: Run,
    source: Source,
    received: Received,
    known: Known,
    object_key: str | None,
) -> str:
    reading = received.reading
    assert reading.notice is not None  # noqa: S101  # rejected ones are not applied
    record_id = new_id()
    outcome, tender = await amendments.apply_notice(
        work,
        reading.notice,
        source=source,
        record_id=record_id,
        backfilled=run.mode == "backfill",
    )
    again = known.records.get((str(reading.source_key), str(reading.content_hash)))
    if again is not None:  # an earlier content came back: its record is the newest once more
        held = await work.hold(again)
        held.received_at, held.outcome = work.now, outcome
        await work.save(held)
        return outcome
    record = _record_of(source, received, outcome, received_at=work.now)
    record.id, record.object_key, record.tender_opportunity_id = record_id, object_key, tender.id
    added = await work.add(record)
    known.records[added.source_key, added.content_hash] = added
    return outcome


def _record_of(
    source: Source, received: Received, outcome: str, *, received_at: datetime
) -> SourceRecord:
    reading = received.reading
    return SourceRecord(
        organization_id=source.organization_id,
        shared=source.shared,
        source_id=source.id,
        source_key=str(reading.source_key),
        content_hash=str(reading.content_hash),
        raw_first=received.raw_first,
        raw_size=received.raw_size,
        received_at=received_at,
        normaliser_version=releases.VERSION,
        report=[line.to_row() for line in reading.report],
        outcome=outcome,
    )


def _reject_of(reading: Reading, place: int) -> dict[str, Any]:
    line = next(one for one in reading.report if one.severity is Severity.REJECTED)
    pointer = f"/releases/{place}{line.field}"
    return {"sourceKey": reading.source_key, "pointer": pointer, "code": line.code}


def _failed_at(key: str, place: int, code: str) -> dict[str, Any]:
    field = "/ocid" if code == OCID_TAKEN else ""
    return {"sourceKey": key, "pointer": f"/releases/{place}{field}", "code": code}
