"""Recommendation to bid or not, by rules of our own (OPP-38). Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from thenga.domains.opportunity.public.judgement import (
    QualificationVerdict,
    RecommendationVerdict,
)

Weight = Literal["blocking", "high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class RulesV1:
    """The numbers of the rules."""

    strong: int = 700  # tenths
    minor: int = 500
    most_gaps: int = 2
    cure_days: int = 3  # working days


@dataclass(frozen=True, slots=True)
class Judged:
    """What a recommendation rests on. `verdict` is none without a completed qualification."""

    score_tenths: int
    band: str
    failed_gates: Sequence[str]
    verdict: QualificationVerdict | None = None
    cures: Sequence[str] = ()  # of mandatory requirements that are not met
    gap_refs: Sequence[str] = ()
    working_days_left: int | None = None
    short_notice: bool = False
    bids_full: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """Why: a code, how much it weighs, and what it refers to."""

    code: str
    weight: Weight
    refs: tuple[str, ...] = ()

    def to_row(self) -> dict[str, Any]:
        return {"code": self.code, "weight": self.weight, "refs": list(self.refs)}


@dataclass(frozen=True, slots=True)
class Advice:
    """The verdict of the rules with its reasons. `preliminary` if nobody has qualified yet."""

    verdict: RecommendationVerdict
    reasons: tuple[Reason, ...]
    preliminary: bool

    @property
    def blocking(self) -> tuple[str, ...]:
        return tuple(one.code for one in self.reasons if one.weight == "blocking")


def recommend(given: Judged, rules: RulesV1) -> Advice:
    """The verdict of rules version 1."""
    made, reasons = _decide(given, rules)
    return Advice(*_lower(made, reasons, given), preliminary=given.verdict is None)


def _decide(given: Judged, rules: RulesV1) -> tuple[RecommendationVerdict, tuple[Reason, ...]]:
    if given.failed_gates:
        return "do_not_bid", tuple(
            Reason(f"gate_{code}", "blocking", (code,)) for code in given.failed_gates
        )
    if given.verdict == "not_qualified":
        return "do_not_bid", (Reason("not_qualified", "blocking", tuple(given.gap_refs)),)
    if given.verdict == "insufficient_information":
        return "insufficient_information", (Reason("mandatory_unknown", "blocking"),)
    if given.verdict is None and given.band == "insufficient":
        return "insufficient_information", (Reason("too_little_known", "blocking"),)
    if given.verdict == "conditional":
        return _conditional(given, rules)
    return _by_score(given.score_tenths, rules)


def _conditional(given: Judged, rules: RulesV1) -> tuple[RecommendationVerdict, tuple[Reason, ...]]:
    refs = tuple(given.gap_refs)
    if "partner" in given.cures:
        return "bid_with_partner", (Reason("gap_needs_partner", "high", refs),)
    enough = given.working_days_left is None or given.working_days_left >= rules.cure_days
    if len(given.cures) <= rules.most_gaps and enough:
        return "bid_minor_gaps", (Reason("gaps_curable", "medium", refs),)
    code = "too_many_gaps" if enough else "too_late_to_cure"
    return "high_risk", (Reason(code, "high", refs),)


def _by_score(tenths: int, rules: RulesV1) -> tuple[RecommendationVerdict, tuple[Reason, ...]]:
    if tenths >= rules.strong:
        return "strong_bid", (Reason("score_strong", "low"),)
    if tenths >= rules.minor:
        return "bid_minor_gaps", (Reason("score_fair", "medium"),)
    return "high_risk", (Reason("score_low", "high"),)


_LOWER: dict[RecommendationVerdict, RecommendationVerdict] = {
    "strong_bid": "bid_minor_gaps",
    "bid_minor_gaps": "high_risk",
}


def _lower(
    verdict: RecommendationVerdict, reasons: tuple[Reason, ...], given: Judged
) -> tuple[RecommendationVerdict, tuple[Reason, ...]]:
    """One step down if little time is left or enough bids are under way; both are named."""
    named = [
        Reason(code, "high")
        for code, applies in (("short_notice", given.short_notice), ("bids_full", given.bids_full))
        if applies
    ]
    if not named or verdict not in _LOWER:
        return verdict, reasons
    return _LOWER[verdict], (*reasons, *named)
