"""Tracked tenders: those a company was matched with or bids on, and their terms (CMP-5, CMP-30)."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.services import recomputing
from thenga.domains.compliance.services.tenders.facts import TenderFacts, TermFacts
from thenga.domains.compliance.tables import TrackedTender
from thenga.domains.opportunity.public import Tender
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import HOME_ZONE, local_day

MOST_TRACKED = 500
KEPT_AFTER_CLOSING = timedelta(days=90)
MATCHED, BIDDING, AWARDED = "matched", "bidding", "awarded"
_RANK = {MATCHED: 0, BIDDING: 1, AWARDED: 2}
_AGAIN = timedelta(minutes=15)
_DELETE_ENDED = """
    DELETE FROM compliance.tracked_tender
    WHERE ended_at IS NOT NULL AND coalesce(closing_at, ended_at) < $1
"""


async def track(
    work: Work, tender_opportunity_id: UUID, *, interest: str, closing_at: datetime | None
) -> TrackedTender:
    """Begin to track a tender, or raise the interest in one; its terms are asked for by a job."""
    known = await find_tracked(work, tender_opportunity_id)
    if known is None:
        known = await work.add(
            TrackedTender(
                organization_id=work.organization_id,
                tender_opportunity_id=tender_opportunity_id,
                interest=interest,
                closing_at=closing_at,
                terms=[],
                next_check_at=work.now,
            )
        )
        await recomputing.mark_due(work)
        return known
    known = await work.hold(known)
    if _RANK[interest] > _RANK[known.interest]:
        known.interest = interest
    if known.ended_at is not None:
        known.ended_at, known.next_check_at = None, work.now
    if known.closing_at is None:
        known.closing_at = closing_at
    await work.save(known)
    await recomputing.mark_due(work)
    return known


async def refresh(
    work: Work, tender_opportunity_id: UUID, *, sequence: int, closing_at: datetime | None
) -> bool:
    """Take the new closing of an amended tender and have its terms asked again.

    An event that is not newer than what is known changes nothing. Whether anything changed.
    """
    known = await find_tracked(work, tender_opportunity_id)
    if known is None or sequence <= known.tender_sequence:
        return False
    known = await work.hold(known)
    if sequence <= known.tender_sequence:
        return False
    if closing_at is not None and known.closing_at is not None and known.validity_ends_on:
        known.validity_ends_on += local_day(closing_at, HOME_ZONE) - local_day(
            known.closing_at, HOME_ZONE
        )
    known.tender_sequence, known.as_of = sequence, work.now
    known.closing_at = closing_at or known.closing_at
    known.next_check_at = work.now
    await work.save(known)
    await recomputing.mark_due(work)
    return True


async def ask_again(work: Work, tender_opportunity_id: UUID) -> None:
    """Have the terms of a tracked tender asked again: the company changed its own requirements."""
    known = await find_tracked(work, tender_opportunity_id)
    if known is None or known.ended_at is not None:
        return
    known = await work.hold(known)
    known.next_check_at = work.now
    await work.save(known)


async def end(work: Work, tender_opportunity_id: UUID, *, sequence: int | None = None) -> None:
    """Stop computing a tender that is over; the row is kept for 90 days after closing."""
    known = await find_tracked(work, tender_opportunity_id)
    if known is None or known.ended_at is not None:
        return
    known = await work.hold(known)
    if sequence is not None and sequence < known.tender_sequence:
        return
    known.ended_at = work.now
    known.tender_sequence = max(known.tender_sequence, sequence or 0)
    known.next_check_at = None
    await work.save(known)
    await recomputing.mark_due(work)


async def delete_ended(work: Work) -> None:
    """Delete tracked tenders that closed long ago, of all companies; for the system login."""
    await work.run(_DELETE_ENDED, work.now - KEPT_AFTER_CLOSING)


async def load_terms(work: Work, tracked_tender_id: UUID, told: Tender | None) -> None:
    """Keep what Opportunity says of a tender; nobody answers: no terms, asked again later."""
    known = await work.lock(TrackedTender, tracked_tender_id)
    if known.ended_at is not None:
        known.next_check_at = None
        await work.save(known)
        return
    if told is None:
        known.next_check_at = work.now + _AGAIN
        await work.save(known)
        return
    if told.sequence >= known.tender_sequence:
        known.closing_at = told.closing_at or known.closing_at
        known.expected_award_on = told.expected_award_on
        known.validity_ends_on = _validity_end(known.closing_at, told.validity_days)
        known.sphere, known.category = told.buyer.sphere, told.category
        known.terms = [_term(one) for one in told.requirements]
        known.tender_sequence, known.as_of = told.sequence, work.now
    known.terms_loaded_at, known.next_check_at = work.now, None
    await work.save(known)
    await recomputing.mark_due(work)


async def find_tracked(read: Reader, tender_opportunity_id: UUID) -> TrackedTender | None:
    """The tracked tender of this ID, if there is one."""
    return await read.find(TrackedTender, tender_opportunity_id=tender_opportunity_id)


async def open_tenders(read: Reader) -> list[TrackedTender]:
    """Tenders that are not over, the nearest closing first."""
    statement = (
        select(TrackedTender)
        .where(
            TrackedTender.organization_id == read.organization_id,
            TrackedTender.ended_at.is_(None),
        )
        .order_by(TrackedTender.closing_at, TrackedTender.id)
    )
    return await read.all(statement, limit=MOST_TRACKED)


def facts_of(row: TrackedTender) -> TenderFacts:
    """The values of a tracked tender."""
    terms = tuple(
        TermFacts(one["ref"], one.get("code"), one.get("gate"), one.get("params") or {})
        for one in row.terms
    )
    return TenderFacts(
        tender_opportunity_id=row.tender_opportunity_id,
        closing_at=row.closing_at,
        validity_ends_on=row.validity_ends_on,
        expected_award_on=row.expected_award_on,
        sphere=row.sphere,
        category=row.category,
        terms=terms,
    )


def _validity_end(closing_at: datetime | None, days: int | None) -> Any:
    if closing_at is None or days is None:
        return None
    return local_day(closing_at, HOME_ZONE) + timedelta(days=days)


def _term(told: Any) -> dict[str, Any]:
    return {
        "ref": str(told.id),
        "code": told.code,
        "gate": told.gate,
        "params": dict(told.params),
    }
