"""Readiness as it is asked for: a day, a point of a tender, many tenders, with its trend."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.services import tenders
from thenga.domains.compliance.services.documents import Sight
from thenga.domains.compliance.services.readiness import hiding
from thenga.domains.compliance.services.readiness.needs import needs_on
from thenga.domains.compliance.services.readiness.reading import Company, read_company
from thenga.domains.compliance.services.readiness.scoring import evaluate
from thenga.domains.compliance.services.readiness.tender_dates import (
    LapsedNeed,
    TenderDate,
    TenderOutcome,
    evaluate_tender,
    tender_dates,
)
from thenga.domains.compliance.services.readiness.values import Assessed, Outcome, Point
from thenga.domains.compliance.services.requirements import TenderUnknown
from thenga.domains.compliance.services.tenders import TenderFacts, TermFacts
from thenga.domains.compliance.settings import ASSUMED_AWARD_DAYS
from thenga.domains.compliance.tables import Origin, ReadinessSnapshot, ReadinessState
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Problem

MOST_DAYS = 730
ORGANIZATION_SCOPE = "organization"


class DateOutOfRange(Problem):
    """Readiness is computed from today to 730 days ahead. Choose a day in that range."""

    code, status, title = "compliance-date-out-of-range", 422, "This day is out of range"


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """The readiness of one past day."""

    day: date
    verdict: str
    score: Decimal | None


@dataclass(frozen=True, slots=True)
class ReadinessAnswer:
    """The readiness of a company on a day."""

    organization_id: UUID
    tender_opportunity_id: UUID | None
    on: date
    at: str
    outcome: Outcome
    dates: tuple[tuple[TenderDate, Outcome], ...]
    lapses: tuple[LapsedNeed, ...]
    trend: tuple[TrendPoint, ...]
    as_of: datetime
    catalogue_version: int | None
    is_stale: bool


@dataclass(frozen=True, slots=True)
class ReadinessQuestion:
    """What is asked: a day, or a point of a tender."""

    on: date | None = None
    at: str | None = None
    tender_opportunity_id: UUID | None = None
    terms: tuple[TermFacts, ...] = ()
    trend_days: int | None = None


async def answer(read: Reader, question: ReadinessQuestion, sight: Sight) -> ReadinessAnswer:
    """Compute readiness from what is stored now; a read never waits for the job (CMP-32). Of
    documents that the caller may not read, only how the requirement stands is shown."""
    company = await read_company(read)
    hidden = hiding.hidden_evidence(company, sight)
    tender = await _tender(read, company, question)
    outcome = await _of_tender(read, company, tender)
    day, at = _day(company, question, outcome)
    found = _outcome_on(company, tender, outcome, day, at)
    return ReadinessAnswer(
        organization_id=read.organization_id,
        tender_opportunity_id=question.tender_opportunity_id,
        on=day,
        at=at,
        outcome=hiding.shown_outcome(found, hidden),
        dates=tuple(zip(outcome.dates, outcome.outcomes, strict=True)) if outcome else (),
        lapses=_lapses(outcome, hidden),
        trend=await _trend(read, company, question),
        as_of=read.now,
        catalogue_version=company.catalogue_version(day),
        is_stale=await _is_stale(read),
    )


def _lapses(outcome: TenderOutcome | None, hidden: frozenset[UUID]) -> tuple[LapsedNeed, ...]:
    return tuple(hiding.shown_lapse(one, hidden) for one in outcome.lapses) if outcome else ()


async def answer_tenders(
    read: Reader, asked: Sequence[TenderFacts], sight: Sight
) -> list[ReadinessAnswer]:
    """Readiness for tenders whose terms the asker brings, in their order; one read for all."""
    company, is_stale = await read_company(read), await _is_stale(read)
    hidden = hiding.hidden_evidence(company, sight)
    found = []
    for tender in asked:
        outcome = await _of_tender(read, company, tender)
        day = outcome.dates[0].on if outcome else company.today
        plain = evaluate(needs_on(company, day, tender), company.rules, on=day, today=company.today)
        found.append(
            ReadinessAnswer(
                organization_id=read.organization_id,
                tender_opportunity_id=tender.tender_opportunity_id,
                on=day,
                at=Point.CLOSING if outcome else "today",
                outcome=hiding.shown_outcome(outcome.at_closing if outcome else plain, hidden),
                dates=tuple(zip(outcome.dates, outcome.outcomes, strict=True)) if outcome else (),
                lapses=_lapses(outcome, hidden),
                trend=(),
                as_of=read.now,
                catalogue_version=company.catalogue_version(day),
                is_stale=is_stale,
            )
        )
    return found


async def assessed_on(read: Reader, on: date | None = None) -> dict[UUID, Assessed]:
    """The assessment of every requirement on a day; those of a tender against its own terms."""
    company = await read_company(read)
    day = on or company.today
    rows = [row for row in company.requirements if row.origin is Origin.TENDER]
    named = {row.tender_opportunity_id for row in rows}
    scopes: list[TenderFacts | None] = [None, *(TenderFacts(one) for one in named)]
    found: dict[UUID, Assessed] = {}
    for scope in scopes:
        outcome = evaluate(
            needs_on(company, day, scope), company.rules, on=day, today=company.today
        )
        for item in outcome.items:
            if item.need.requirement_id is not None:
                found.setdefault(item.need.requirement_id, item)
    return found


async def compute_tender(read: Reader, company: Company, tender: TenderFacts) -> TenderOutcome:
    """The dates of a tender that has a closing, with what lapses between them."""
    found = await _of_tender(read, company, tender)
    if found is None:
        raise LookupError("a tender without a closing has no dates")
    return found


async def _of_tender(
    read: Reader, company: Company, tender: TenderFacts | None
) -> TenderOutcome | None:
    if tender is None or tender.closing_at is None:
        return None
    dates = tender_dates(
        closing_at=tender.closing_at,
        validity_ends_on=tender.validity_ends_on,
        expected_award_on=tender.expected_award_on,
        assumed_award_days=await configuration.value(read, ASSUMED_AWARD_DAYS),
    )
    return evaluate_tender(
        lambda day: needs_on(company, day, tender),
        lambda _: company.rules,
        dates,
        today=company.today,
    )


async def _tender(
    read: Reader, company: Company, question: ReadinessQuestion
) -> TenderFacts | None:
    wanted = question.tender_opportunity_id
    if wanted is None:
        return TenderFacts(None, terms=question.terms) if question.terms else None
    tracked = await tenders.find_tracked(read, wanted)
    if tracked is not None:
        facts = tenders.facts_of(tracked)
    elif any(row.tender_opportunity_id == wanted for row in company.requirements):
        facts = TenderFacts(wanted)
    else:
        raise TenderUnknown()
    return replace(facts, terms=question.terms) if question.terms else facts


def _day(
    company: Company, question: ReadinessQuestion, outcome: TenderOutcome | None
) -> tuple[date, str]:
    if question.on is not None:
        last = company.today + timedelta(days=MOST_DAYS)
        if not company.today <= question.on <= last:
            raise DateOutOfRange(f"Choose a day from {company.today} to {last}.")
        return question.on, "date"
    at = question.at or (Point.CLOSING.value if outcome else "today")
    if at == "today":
        return company.today, at
    named = {one.point.value: one.on for one in outcome.dates} if outcome else {}
    if at not in named:
        raise TenderUnknown(
            "No tender with this date was given. Send `tenderOpportunityId`, or another date."
        )
    return named[at], at


def _outcome_on(
    company: Company,
    tender: TenderFacts | None,
    outcome: TenderOutcome | None,
    day: date,
    at: str,
) -> Outcome:
    for named, found in zip(outcome.dates, outcome.outcomes, strict=True) if outcome else ():
        if named.point.value == at:
            return found
    return evaluate(needs_on(company, day, tender), company.rules, on=day, today=company.today)


async def _trend(
    read: Reader, company: Company, question: ReadinessQuestion
) -> tuple[TrendPoint, ...]:
    if question.trend_days is None:
        return ()
    scope = str(question.tender_opportunity_id or ORGANIZATION_SCOPE)
    statement = (
        select(ReadinessSnapshot)
        .where(
            ReadinessSnapshot.scope == scope,
            ReadinessSnapshot.day > company.today - timedelta(days=question.trend_days),
        )
        .order_by(ReadinessSnapshot.day)
    )
    return tuple(
        TrendPoint(
            row.day,
            row.answer["verdict"],
            None if row.answer["score"] is None else Decimal(row.answer["score"]),
        )
        for row in await read.all(statement)
    )


async def _is_stale(read: Reader) -> bool:
    """Whether something changed that snapshots, events and risks do not include yet."""
    state = await read.find(ReadinessState, id=read.organization_id)
    if state is None:
        return False
    is_due = state.next_check_at is not None and state.next_check_at <= read.now
    return state.revision > state.computed_revision or is_due
