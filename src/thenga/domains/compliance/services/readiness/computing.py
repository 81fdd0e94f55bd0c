"""Computes readiness again after a change or on a new day, and tells what changed (CMP-32)."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from thenga.domains.compliance import public
from thenga.domains.compliance.services import tenders
from thenga.domains.compliance.services.readiness.answers import (
    ORGANIZATION_SCOPE,
    compute_tender,
)
from thenga.domains.compliance.services.readiness.needs import needs_on
from thenga.domains.compliance.services.readiness.reading import Company, read_company
from thenga.domains.compliance.services.readiness.scoring import evaluate
from thenga.domains.compliance.services.readiness.tender_dates import LapsedNeed, TenderOutcome
from thenga.domains.compliance.services.readiness.values import Gate, Outcome, State
from thenga.domains.compliance.tables import ReadinessSnapshot, ReadinessState
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import HOME_ZONE, local_day, local_midnight

Direction = Literal["up", "down", "level"]

_LEAST_MOVE = Decimal("1.0")
_AFTER_MIDNIGHT = timedelta(minutes=5)
_UNKNOWN_DAYS = timedelta(days=8)  # a gate is a risk when it was unknown for more than seven


@dataclass(frozen=True, slots=True)
class Computed:
    """What one run found, for the rules of risks."""

    company: Company
    outcome: Outcome
    lapses: tuple[tuple[UUID, LapsedNeed], ...]  # with the tender
    unknown_since: dict[str, datetime]


@dataclass(frozen=True, slots=True)
class _Before:
    """What was told last of the company or of a tender."""

    verdict: str | None
    score: Decimal | None
    blockers: tuple[str, ...]


async def recompute(work: Work, organization_id: UUID) -> Computed:
    """Compute readiness of the company and of its open tenders, keep the day's snapshots, and tell
    what changed. Changes that come meanwhile wait for the row and make it due again."""
    state = await work.lock(ReadinessState, organization_id)
    company = await read_company(work)
    today = company.today
    outcome = evaluate(needs_on(company, today), company.rules, on=today, today=today)
    tracked = [tenders.facts_of(row) for row in await tenders.open_tenders(work)]
    of_tenders: dict[UUID, TenderOutcome] = {}
    for facts in tracked:
        if facts.closing_at is not None and facts.tender_opportunity_id is not None:
            of_tenders[facts.tender_opportunity_id] = await compute_tender(work, company, facts)
    before = _Before(state.verdict, state.score, tuple(state.blockers))
    told_tenders = state.tenders
    unknown_since = _unknown_since(state, outcome, work.now)
    _set(state, outcome, of_tenders, unknown_since, work.now, today)
    state.next_check_at = _next_check(company, of_tenders, unknown_since)
    await work.touch(state)
    await _keep_snapshot(work, ORGANIZATION_SCOPE, today, outcome)
    _tell(work, before, outcome, on=today)
    for tender_id, found in of_tenders.items():
        earlier = _earlier(told_tenders.get(str(tender_id)))
        if _tell(work, earlier, found.at_closing, on=found.dates[0].on, tender=tender_id):
            await _keep_snapshot(work, str(tender_id), today, found.at_closing)
    lapses = tuple((one, lapse) for one, found in of_tenders.items() for lapse in found.lapses)
    return Computed(company, outcome, lapses, unknown_since)


def _set(
    state: ReadinessState,
    outcome: Outcome,
    of_tenders: dict[UUID, TenderOutcome],
    unknown_since: dict[str, datetime],
    now: datetime,
    today: date,
) -> None:
    state.verdict, state.score = outcome.verdict.value, outcome.score
    state.blockers = list(outcome.blockers)
    state.tenders = {str(one): _summary(found.at_closing) for one, found in of_tenders.items()}
    state.unknown_since = {code: since.isoformat() for code, since in unknown_since.items()}
    state.inputs_hash = _hash(outcome)
    state.computed_revision, state.computed_at, state.computed_on = state.revision, now, today


def _summary(outcome: Outcome) -> dict[str, Any]:
    score = None if outcome.score is None else str(outcome.score)
    return {"verdict": outcome.verdict.value, "score": score, "blockers": list(outcome.blockers)}


def _earlier(kept: dict[str, Any] | None) -> _Before:
    if kept is None:
        return _Before(None, None, ())
    score = None if kept["score"] is None else Decimal(kept["score"])
    return _Before(kept["verdict"], score, tuple(kept["blockers"]))


def _unknown_since(state: ReadinessState, outcome: Outcome, now: datetime) -> dict[str, datetime]:
    """Since when each hard requirement is unknown; one that is known again is forgotten."""
    unknown = [
        item.need.code
        for item in outcome.items
        if item.need.gate is Gate.HARD and item.state is State.UNKNOWN
    ]
    known = {code: datetime.fromisoformat(text) for code, text in state.unknown_since.items()}
    return {code: known.get(code, now) for code in unknown}


def _tell(
    work: Work, before: _Before, found: Outcome, *, on: date, tender: UUID | None = None
) -> bool:
    """Publish what changed; whether anything did."""
    if not _has_changed(before, found):
        return False
    work.publish(
        public.ReadinessChanged(
            organization_id=work.organization_id,
            verdict=found.verdict.value,
            score=found.score,
            previous_verdict=before.verdict,
            previous_score=before.score,
            blockers=list(found.blockers),
            direction=_direction(before, found),
            tender_opportunity_id=tender,
            on=on,
        )
    )
    return True


def _has_changed(before: _Before, found: Outcome) -> bool:
    if before.verdict != found.verdict.value or set(before.blockers) != set(found.blockers):
        return True
    if before.score is None or found.score is None:
        return before.score != found.score
    return abs(found.score - before.score) >= _LEAST_MOVE


def _direction(before: _Before, found: Outcome) -> Direction | None:
    if before.score is None or found.score is None:
        return None
    if before.score == found.score:
        return "level"
    return "up" if found.score > before.score else "down"


async def _keep_snapshot(work: Work, scope: str, day: date, outcome: Outcome) -> None:
    """One row for each scope and day; the last run of a day stands."""
    answer, digest = _summary(outcome), _hash(outcome)
    kept = await work.find(ReadinessSnapshot, scope=scope, day=day)
    if kept is None:
        await work.add(
            ReadinessSnapshot(
                organization_id=work.organization_id,
                scope=scope,
                day=day,
                answer=answer,
                inputs_hash=digest,
            )
        )
        return
    kept = await work.hold(kept)
    kept.answer, kept.inputs_hash = answer, digest
    await work.save(kept)


def _hash(outcome: Outcome) -> str:
    """The same inputs give the same hash: every item with its state, proofs and last day."""
    rows = [
        (
            str(item.need.requirement_id),
            item.need.code,
            item.need.gate.value,
            item.state.value,
            str(item.valid_until),
            [str(one) for one in item.evidence_ids],
        )
        for item in outcome.items
    ]
    return hashlib.sha256(repr(sorted(rows)).encode()).hexdigest()


def _next_check(
    company: Company, of_tenders: dict[UUID, TenderOutcome], unknown_since: dict[str, datetime]
) -> datetime | None:
    """Five minutes past midnight of the next day on which time alone moves something."""
    days = [day for day in _moving_days(company, of_tenders) if day > company.today]
    days += [local_day(since + _UNKNOWN_DAYS, HOME_ZONE) for since in unknown_since.values()]
    ahead = [day for day in days if day > company.today]
    return local_midnight(min(ahead), HOME_ZONE) + _AFTER_MIDNIGHT if ahead else None


def _moving_days(company: Company, of_tenders: dict[UUID, TenderOutcome]) -> Iterable[date]:
    one_day = timedelta(days=1)
    for rows in company.definitions.values():
        yield from (row.effective_from for row in rows)
    for row in company.requirements:
        if row.ends_on is not None:
            yield row.ends_on + one_day
    for need in needs_on(company, company.today):
        for proof in (proof for subject in need.subjects for proof in subject.proofs):
            if proof.last_day is not None:
                yield proof.last_day + one_day
                yield proof.last_day - timedelta(days=30)  # a risk from 30 days left
            if proof.first_day is not None:
                yield proof.first_day
            if proof.checked_until is not None:
                yield proof.checked_until + one_day
            if proof.checked_on is not None and need.recheck_days is not None:
                yield proof.checked_on + timedelta(days=need.recheck_days + 1)
    for linked in (one for proofs in company.proofs.values() for one in proofs):
        if linked.renewal_expected_on is not None:
            yield linked.renewal_expected_on + one_day
    for found in of_tenders.values():
        yield found.dates[0].on + one_day
