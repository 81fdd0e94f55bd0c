"""Recommendations: whether to bid, by rules; a person decides (OPP-38, OPP-39)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.opportunity import public, settings
from thenga.domains.opportunity.lifecycles import RecommendationLifecycle
from thenga.domains.opportunity.public.judgement import RecommendationVerdict
from thenga.domains.opportunity.services import matching, notices
from thenga.domains.opportunity.services.qualification.qualifications import (
    completed,
    criteria_of,
)
from thenga.domains.opportunity.services.qualification.rules import (
    Advice,
    Judged,
    RulesV1,
    recommend,
)
from thenga.domains.opportunity.services.qualification.verdicts import gaps
from thenga.domains.opportunity.tables import (
    Qualification,
    Recommendation,
    RecommendationRevision,
    RecommendationStatus,
    SavedOpportunity,
    Stage,
    TenderOpportunity,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.errors import Problem, RuleViolated, StaleVersion
from thenga.kernel.values.calendar import local_day, working_days_between

RULES_VERSION = 1
DISCLAIMER = (
    "This is decision support, computed by rules from your company's records. "
    "A person decides whether to bid."
)


class RecommendationExpired(Problem):
    """The tender no longer accepts bids, so there is nothing left to decide."""

    code, status, title = "opportunity-recommendation-expired", 409, "The tender has closed"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decides: to accept the verdict, or to override it with a reason."""

    choice: Literal["accept", "override"]
    verdict: RecommendationVerdict | None
    reason: str | None


async def get_recommendation(read: Reader, tender_id: UUID) -> Recommendation:
    """The stored recommendation, or the one that the rules give now, with version 0."""
    tender = await read.get(TenderOpportunity, tender_id)
    stored = await read.find(Recommendation, tender_opportunity_id=tender_id)
    if stored is not None:
        return stored
    advice, inputs = await _advise(read, tender)
    return _row(read, tender, advice, inputs)


async def decide(work: Work, tender_id: UUID, decision: Decision) -> Recommendation:
    """Record what a person decides on the version that they saw."""
    row = await _current(work, tender_id)
    if decision.choice == "override" and (decision.verdict is None or not decision.reason):
        raise RuleViolated("Send `verdict` and `reason` to override.", rule="OPP-38")
    move = (
        RecommendationLifecycle.accept
        if decision.choice == "accept"
        else RecommendationLifecycle.override
    )
    if not move(row, at=work.now):
        return row
    row.decision = {
        "choice": decision.choice,
        "verdict": decision.verdict or row.verdict,
        "reason": decision.reason,
    }
    row.decided_by, row.decided_at = work.user_id, work.now
    await work.save(row)
    work.publish(_event(row))
    return row


async def refresh(work: Work, tender_id: UUID) -> Recommendation:
    """Have the rules decide again now."""
    row = await _current(work, tender_id)
    tender = await work.get(TenderOpportunity, tender_id)
    await _recompute(work, row, tender)
    return row


async def recompute_stored(work: Work, tender_id: UUID, *, reopen: bool = False) -> str | None:
    """What a stored recommendation rests on has changed; which row it is.

    `reopen` proposes it again even if the verdict stays: the tender itself has changed.
    """
    if await work.find(Recommendation, tender_opportunity_id=tender_id) is None:
        return None
    row = await work.lock_by(Recommendation, beside=True, tender_opportunity_id=tender_id)
    tender = await work.get(TenderOpportunity, tender_id)
    await _recompute(work, row, tender, reopen=reopen)
    return f"recommendation/{row.id}"


def is_expired(row: Recommendation, tender: TenderOpportunity, read: Reader) -> bool:
    return notices.status_at(tender, read.now) not in matching.TAKES_BIDS


async def _current(work: Work, tender_id: UUID) -> Recommendation:
    """The row, locked at the version that the caller saw; version 0 is stored first."""
    tender = await work.get(TenderOpportunity, tender_id)
    if notices.status_at(tender, work.now) not in matching.TAKES_BIDS:
        raise RecommendationExpired()
    if await work.find(Recommendation, tender_opportunity_id=tender_id) is not None:
        return await work.lock_by(Recommendation, tender_opportunity_id=tender_id)
    if work.if_match not in (None, 0):
        raise StaleVersion(currentVersion=0)
    work.if_match = None
    advice, inputs = await _advise(work, tender)
    row = await work.add(_row(work, tender, advice, inputs))
    return await work.hold(row)


async def _recompute(
    work: Work, row: Recommendation, tender: TenderOpportunity, *, reopen: bool = False
) -> None:
    advice, inputs = await _advise(work, tender)
    made = [one.to_row() for one in advice.reasons]
    blocking = {one["code"] for one in row.reasons if one["weight"] == "blocking"}
    differs = advice.verdict != row.verdict or blocking != set(advice.blocking)
    was_decided = row.status is not RecommendationStatus.PROPOSED
    if differs or (reopen and was_decided):
        await work.add(
            RecommendationRevision(
                organization_id=row.organization_id,
                tender_opportunity_id=tender.id,
                recommendation_id=row.id,
                revision=row.revision,
                document={
                    "verdict": row.verdict,
                    "status": row.status.value,
                    "reasons": row.reasons,
                    "inputs": row.inputs,
                    "decision": row.decision,
                },
            )
        )
        row.revision += 1
        row.decision = row.decided_by = row.decided_at = None
        if was_decided:
            RecommendationLifecycle.propose(row, at=work.now)
    row.verdict, row.reasons = advice.verdict, made
    row.preliminary, row.inputs, row.computed_at = advice.preliminary, inputs, work.now
    await work.save(row)
    if differs or (reopen and was_decided):
        work.publish(_event(row))


async def _advise(read: Reader, tender: TenderOpportunity) -> tuple[Advice, dict[str, Any]]:
    """What the rules say with what is known now."""
    match, _ = await matching.compute_own(read, tender)
    qualified = await completed(read, tender.id)
    rules = await configuration.value(read, settings.RECOMMENDATION_RULES)
    extra = await configuration.value(read, EXTRA_HOLIDAYS)
    lacking = gaps(criteria_of(qualified)) if qualified else []
    left = None
    if tender.closing_at is not None:
        left = working_days_between(local_day(read.now), local_day(tender.closing_at), extra)
    hard = [one["code"] for one in match.gates if one["kind"] == "hard" and one["result"] == "fail"]
    given = Judged(
        score_tenths=match.score_tenths or 0,
        band=match.band,
        failed_gates=hard,
        verdict=qualified.verdict if qualified else None,  # type: ignore[arg-type]  # its values
        cures=[one.cure for one in lacking],
        gap_refs=[one.requirement_id for one in lacking],
        working_days_left=left,
        short_notice="notice_period" in match.failed_gates,
        bids_full=await _is_full(read),
    )
    advice = recommend(
        given,
        RulesV1(
            strong=rules.strong_from * 10,
            minor=rules.gaps_from * 10,
            most_gaps=rules.most_gaps,
            cure_days=rules.cure_working_days,
        ),
    )
    return advice, _inputs(tender, match.profile_revision, qualified)


def _inputs(
    tender: TenderOpportunity, profile_revision: int, qualified: Qualification | None
) -> dict[str, Any]:
    return {
        "matchRevision": tender.match_revision,
        "materialRevision": tender.material_revision,
        "profileRevision": profile_revision,
        "qualificationRevision": qualified.revision if qualified else None,
    }


async def _is_full(read: Reader) -> bool:
    """Whether the company prepares as many bids as it wants to."""
    profile = matching.profile_features(await matching.profile_of(read))
    if profile.max_concurrent_bids is None:
        return False
    pursued = (
        select(func.count())
        .select_from(SavedOpportunity.__table__)
        .where(
            SavedOpportunity.organization_id == read.organization_id,
            SavedOpportunity.stage == Stage.PURSUING.value,
        )
    )
    return (await read.value(pursued) or 0) >= profile.max_concurrent_bids


def _row(
    read: Reader, tender: TenderOpportunity, advice: Advice, inputs: dict[str, Any]
) -> Recommendation:
    reasons: Sequence[dict[str, Any]] = [one.to_row() for one in advice.reasons]
    return Recommendation(
        organization_id=read.organization_id,
        tender_opportunity_id=tender.id,
        revision=1,
        verdict=advice.verdict,
        preliminary=advice.preliminary,
        reasons=list(reasons),
        rules_version=RULES_VERSION,
        inputs=inputs,
        computed_at=read.now,
    )


def _event(row: Recommendation) -> public.RecommendationChanged:
    return public.RecommendationChanged(
        organization_id=row.organization_id,
        recommendation_id=row.id,
        tender_opportunity_id=row.tender_opportunity_id,
        verdict=row.verdict,  # type: ignore[arg-type]  # one of its values
        status=row.status.value,
        preliminary=row.preliminary,
    )
