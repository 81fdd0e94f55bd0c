"""Qualification and recommendation by the vectors of the rules, without a database."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tests.planting import plant

from thenga.domains.opportunity.services.qualification import rules as rules_v1
from thenga.domains.opportunity.services.qualification.rules import Judged, RulesV1, recommend
from thenga.domains.opportunity.services.qualification.verdicts import (
    Criterion,
    Functionality,
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


VERDICTS: list[tuple[list[Criterion], dict[str, int] | None, str]] = [
    ([MET], None, "qualified"),
    ([MET, SCORED], None, "qualified"),
    ([MET, UNMET], None, "not_qualified"),
    ([UNMET, UNKNOWN], None, "not_qualified"),
    ([MET], {"a": 24, "b": 24, "c": 27}, "qualified"),
    ([MET], {"a": 20, "b": 22, "c": 27}, "not_qualified"),
    ([MET], {"a": 20, "b": 22}, "qualified"),
    ([CURABLE, UNKNOWN], None, "conditional"),
    ([UNKNOWN, MET], None, "insufficient_information"),
]


def misjudged() -> list[int]:
    """The places of the vectors with another verdict."""
    wrong = []
    for place, (criteria, scores, expected) in enumerate(VERDICTS):
        made = None if scores is None else points(THIRDS, 70, scores)
        if verdict(criteria, made, is_before_closing=True) != expected:  # type: ignore[arg-type]
            wrong.append(place)
    return wrong


@pytest.mark.rule("OPP-37")
def test_the_first_rule_that_applies_decides() -> None:
    assert misjudged() == []


def test_a_planted_threshold_that_nobody_misses_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Functionality, "is_missed", False)

    assert misjudged() == [5]


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


ADVICE: list[tuple[Judged, str, str]] = [
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
]


def misadvised() -> list[int]:
    """The places of the vectors with another recommendation or another last reason."""
    wrong = []
    for place, (given, expected, code) in enumerate(ADVICE):
        made = recommend(given, RULES)
        said = (made.verdict, made.reasons[-1].code, made.preliminary)
        if said != (expected, code, given.verdict is None):
            wrong.append(place)
    return wrong


@pytest.mark.rule("OPP-38")
def test_each_rule_of_the_recommendation() -> None:
    assert misadvised() == []


@pytest.mark.parametrize(
    ("name", "bug", "codes"),
    [
        (
            "_lower",
            lambda verdict, reasons, given: (verdict, reasons),
            {"short_notice", "bids_full"},
        ),
        (
            "_decide",
            lambda given, rules: rules_v1._by_score(given.score_tenths, rules),
            {"gate_cidb_grade", "not_qualified", "mandatory_unknown", "too_little_known"},
        ),
    ],
)
def test_a_planted_recommendation_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, bug: Any, codes: set[str]
) -> None:
    plant(monkeypatch, rules_v1, name, bug)

    assert {ADVICE[place][2] for place in misadvised()} >= codes
