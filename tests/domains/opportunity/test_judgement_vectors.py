"""Qualification and recommendation by the vectors of the rules, without a database."""

from dataclasses import replace
from decimal import Decimal

import pytest

from thenga.domains.opportunity.services.qualification.rules import Judged, RulesV1, recommend
from thenga.domains.opportunity.services.qualification.verdicts import (
    Criterion,
    functionality,
    merge,
    unanswered,
    verdict,
)

MET = Criterion("1", "Tax status", "mandatory", "document", "tax", "hard", "none", "met", "person")
UNMET = replace(MET, result="not_met")
CURABLE = replace(UNMET, cure="renew")
UNKNOWN = replace(MET, result="unknown")
SCORED = replace(UNKNOWN, requirement_class="scored")
RULES = RulesV1()


def points(of: dict[str, int], threshold: int, scores: dict[str, int]) -> object:
    worth = {key: Decimal(value) for key, value in of.items()}
    given = {key: Decimal(value) for key, value in scores.items()}
    return functionality(worth, sum(worth.values(), Decimal(0)), Decimal(threshold), given)


THIRDS = {"a": 30, "b": 40, "c": 30}


@pytest.mark.rule("OPP-37")
@pytest.mark.parametrize(
    ("criteria", "scores", "expected"),
    [
        ([MET], None, "qualified"),
        ([MET, SCORED], None, "qualified"),
        ([MET, UNMET], None, "not_qualified"),
        ([UNMET, UNKNOWN], None, "not_qualified"),
        ([MET], {"a": 24, "b": 24, "c": 27}, "qualified"),
        ([MET], {"a": 20, "b": 22, "c": 27}, "not_qualified"),
        ([MET], {"a": 20, "b": 22}, "qualified"),
        ([CURABLE, UNKNOWN], None, "conditional"),
        ([UNKNOWN, MET], None, "insufficient_information"),
    ],
)
def test_the_first_rule_that_applies_decides(
    criteria: list[Criterion], scores: dict[str, int] | None, expected: str
) -> None:
    made = None if scores is None else points(THIRDS, 70, scores)

    assert verdict(criteria, made, is_before_closing=True) == expected  # type: ignore[arg-type]


@pytest.mark.rule("OPP-37")
def test_the_vectors_of_functionality() -> None:
    first = functionality(
        {"a": Decimal(30), "b": Decimal(40), "c": Decimal(30)},
        Decimal(100),
        Decimal(70),
        {"a": Decimal(24), "b": Decimal(24), "c": Decimal(27)},
    )
    second = functionality({"a": Decimal(60)}, Decimal(60), Decimal(36), {"a": Decimal(41)})

    assert (first.points, first.is_missed) == (Decimal(75), False)
    assert (second.points, second.is_missed) == (Decimal(41), False)


@pytest.mark.rule("OPP-37")
def test_nothing_can_be_cured_after_the_closing() -> None:
    assert verdict([CURABLE], None, is_before_closing=False) == "not_qualified"


@pytest.mark.rule("OPP-36")
def test_an_answer_never_overrules_a_failed_proof() -> None:
    assert merge("not_met", "met") == "not_met"
    assert merge("met", "not_met") == "met"
    assert merge("unknown", "met") == "met"
    assert merge("unknown", None) == "unknown"
    assert unanswered([UNKNOWN, replace(UNKNOWN, requirement_id="2", answer="unknown")]) == ["1"]


QUALIFIED = Judged(820, "good", (), "qualified", working_days_left=10)
CONDITIONAL = replace(QUALIFIED, verdict="conditional", cures=("renew",), gap_refs=("r1",))


@pytest.mark.rule("OPP-38")
@pytest.mark.parametrize(
    ("given", "expected", "code"),
    [
        (replace(QUALIFIED, failed_gates=("cidb_grade",)), "do_not_bid", "gate_cidb_grade"),
        (replace(QUALIFIED, verdict="not_qualified"), "do_not_bid", "not_qualified"),
        (
            replace(QUALIFIED, verdict="insufficient_information"),
            "insufficient_information",
            "mandatory_unknown",
        ),
        (replace(CONDITIONAL, cures=("renew", "partner")), "bid_with_partner", "gap_needs_partner"),
        (CONDITIONAL, "bid_minor_gaps", "gaps_curable"),
        (replace(CONDITIONAL, cures=("renew", "register")), "bid_minor_gaps", "gaps_curable"),
        (replace(CONDITIONAL, cures=("renew",) * 3), "high_risk", "too_many_gaps"),
        (replace(CONDITIONAL, working_days_left=3), "bid_minor_gaps", "gaps_curable"),
        (replace(CONDITIONAL, working_days_left=2), "high_risk", "too_late_to_cure"),
        (QUALIFIED, "strong_bid", "score_strong"),
        (replace(QUALIFIED, score_tenths=700), "strong_bid", "score_strong"),
        (replace(QUALIFIED, score_tenths=699), "bid_minor_gaps", "score_fair"),
        (replace(QUALIFIED, score_tenths=500), "bid_minor_gaps", "score_fair"),
        (replace(QUALIFIED, score_tenths=499), "high_risk", "score_low"),
        (replace(QUALIFIED, short_notice=True), "bid_minor_gaps", "short_notice"),
        (replace(QUALIFIED, score_tenths=600, bids_full=True), "high_risk", "bids_full"),
        (replace(CONDITIONAL, short_notice=True), "high_risk", "short_notice"),
        (replace(QUALIFIED, verdict=None), "strong_bid", "score_strong"),
        (
            replace(QUALIFIED, verdict=None, band="insufficient"),
            "insufficient_information",
            "too_little_known",
        ),
    ],
)
def test_each_rule_of_the_recommendation(given: Judged, expected: str, code: str) -> None:
    made = recommend(given, RULES)

    assert (made.verdict, made.reasons[-1].code) == (expected, code)
    assert made.preliminary == (given.verdict is None)
