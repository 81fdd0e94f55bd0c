"""The dates of one tender, and what ends between them (CMP-30)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from thenga.domains.compliance.services.readiness.scoring import evaluate
from thenga.domains.compliance.services.readiness.values import (
    Assessed,
    Need,
    Outcome,
    Point,
    Rules,
    State,
)
from thenga.kernel.values.calendar import HOME_ZONE, local_day

ASSUMED_AWARD_DAYS = 60

_HOLDS = (State.MET, State.PROVISIONAL)
_ENDED = (State.EXPIRED, State.MISSING, State.PARTIALLY_MET)
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TenderDate:
    """One date of a tender; `is_assumed` where nobody has said it."""

    point: Point
    on: date
    is_assumed: bool = False


@dataclass(frozen=True, slots=True)
class LapsedNeed:
    """A requirement that holds at closing and has ended by a later date of the tender."""

    need: Need
    ends_on: date  # the first day on which it no longer holds
    missed: TenderDate
    evidence_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class TenderOutcome:
    """The verdict at closing, the other dates, and what lapses before them."""

    at_closing: Outcome
    dates: tuple[TenderDate, ...]
    outcomes: tuple[Outcome, ...]  # of these dates, in their order
    lapses: tuple[LapsedNeed, ...]


def tender_dates(
    *,
    closing_at: datetime,
    validity_ends_on: date | None,
    expected_award_on: date | None,
    assumed_award_days: int = ASSUMED_AWARD_DAYS,
) -> tuple[TenderDate, ...]:
    """Closing, award and the end of validity, as far as they are known, in that order."""
    closing = local_day(closing_at, HOME_ZONE)
    award = expected_award_on
    if award is None:
        award = closing + timedelta(days=assumed_award_days)
        if validity_ends_on is not None:
            award = min(award, validity_ends_on)
    found = [
        TenderDate(Point.CLOSING, closing),
        TenderDate(Point.AWARD, award, is_assumed=expected_award_on is None),
    ]
    if validity_ends_on is not None:
        found.append(TenderDate(Point.VALIDITY_END, validity_ends_on))
    return tuple(found)


def validity_end(closing_at: datetime, validity_days: int) -> date:
    """The last day on which an offer stands."""
    return local_day(closing_at, HOME_ZONE) + timedelta(days=validity_days)


def evaluate_tender(
    needs_on: Callable[[date], Sequence[Need]],
    rules_on: Callable[[date], Rules],
    dates: Sequence[TenderDate],
    *,
    today: date,
) -> TenderOutcome:
    """The verdict of closing, and what ends before a later date on which it is needed."""
    first, *later = dates
    closing = evaluate(
        needs_on(first.on), rules_on(first.on), on=first.on, today=today, point=first.point
    )
    held = {_key(item.need): item for item in closing.items if item.state in _HOLDS}
    lapses, outcomes = [], [closing]
    for named in later:
        outcome = evaluate(
            needs_on(named.on), rules_on(named.on), on=named.on, today=today, point=named.point
        )
        outcomes.append(outcome)
        for item in outcome.items:
            before = held.get(_key(item.need))
            if before is not None and item.state in _ENDED:
                lapses.append(
                    LapsedNeed(before.need, _ends_on(before, named), named, before.evidence_ids)
                )
    return TenderOutcome(closing, tuple(dates), tuple(outcomes), tuple(lapses))


def _key(need: Need) -> tuple[object, ...]:
    return (need.requirement_id, need.ref, need.code)


def _ends_on(before: Assessed, missed: TenderDate) -> date:
    """The first day that is no longer covered; a proof that never ends gave way to another row."""
    return missed.on if before.valid_until is None else before.valid_until + _ONE_DAY
