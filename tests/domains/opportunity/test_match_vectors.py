"""Score and gates of a match by the vectors of the rules, without a database."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.planting import plant

from thenga.domains.opportunity.services.matching import features as f
from thenga.domains.opportunity.services.matching import gates as gate_rules
from thenga.domains.opportunity.services.matching import scoring
from thenga.domains.opportunity.services.matching.gates import (
    Gate,
    failed_codes,
    gates,
    is_eligible,
)
from thenga.domains.opportunity.services.matching.scoring import Factor, Score, combine, score
from thenga.domains.opportunity.settings import MatchWeights

NOW = datetime(2026, 8, 24, 8, tzinfo=UTC)
WEIGHTS = MatchWeights()
ASKED = f.CidbAsked("GB", 5)
TENDER = f.TenderFeatures(
    codes=("72141100",),
    words=frozenset({"road", "repair", "school"}),
    provinces=frozenset({"KZN"}),
    cidb=(ASKED,),
    closes_at=datetime(2026, 9, 16, 9, tzinfo=UTC),
    method="open",
    buyer_type="provincial_department",
)
HELD = f.CidbHeld("GB", 6, False, "claimed", date(2027, 3, 31), "capability:1")
PROFILE = f.ProfileFeatures(
    codes=(f.HeldCode("72141000", "claimed", "category"),),
    keywords=(("road",), ("bridge",)),
    provinces=frozenset({"KZN", "GP"}),
    cidb=(HELD,),
    projects=(
        f.Project(("7214",), True, date(2024, 5, 1), "project:1"),
        f.Project(("7214",), False, None, "project:2"),
        f.Project(("7214",), True, date(2019, 5, 1), "project:3"),
    ),
)


def one_of(found: tuple[Gate, ...], code: str) -> str:
    return next(gate.result for gate in found if gate.code == code)


def vectors() -> tuple[Score, Score]:
    """The company of the rule with a tender of unknown value, and with one in its range."""
    in_band = replace(TENDER, value_minor=500_000_00)
    wishes = replace(PROFILE, value_max_minor=900_000_00)
    return score(TENDER, PROFILE, WEIGHTS, now=NOW), score(in_band, wishes, WEIGHTS, now=NOW)


@pytest.mark.rule("OPP-30")
def test_the_vectors_of_the_score() -> None:
    unknown, in_band = vectors()

    values = {factor.key: factor.tenths for factor in unknown.factors}
    print(f"score={unknown.tenths / 10} coverage={unknown.coverage / 100:.2f} {unknown.band}")
    print(f"score={in_band.tenths / 10} coverage={in_band.coverage / 100:.2f} {in_band.band}")
    assert values == {
        "subject": 750,
        "place": 900,
        "capability": 800,
        "size": None,
        "experience": 500,
        "timing": 1000,
    }
    assert (unknown.tenths, unknown.coverage, unknown.band) == (778, 90, "good")
    assert (in_band.tenths, in_band.coverage, in_band.band) == (800, 100, "good")


def test_a_planted_score_that_counts_unknown_as_nothing_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = scoring.combine

    def pessimist(factors: tuple[Factor, ...]) -> Score:
        return right(tuple(replace(one, tenths=one.tenths or 0) for one in factors))

    plant(monkeypatch, scoring, "combine", pessimist)

    unknown, in_band = vectors()
    assert (unknown.tenths, in_band.tenths) == (700, 800)  # 77.8 is what it must be


@pytest.mark.rule("OPP-30")
@given(st.lists(st.tuples(st.integers(1, 60), st.none() | st.integers(0, 1000)), max_size=6))
def test_the_mean_agrees_with_decimals(parts: list[tuple[int, int | None]]) -> None:
    made = combine(tuple(Factor(str(i), w, v, "") for i, (w, v) in enumerate(parts)))

    known = [(Decimal(w), Decimal(v) / 10) for w, v in parts if v is not None]
    weight = sum((w for w, _ in known), Decimal(0))
    mean = sum((w * v for w, v in known), Decimal(0)) / weight if weight else Decimal(0)
    assert Decimal(made.tenths) / 10 == mean.quantize(Decimal("0.1"), ROUND_HALF_UP)


@pytest.mark.rule("OPP-30")
@pytest.mark.parametrize(
    ("value", "profile", "tenths"),
    [
        (40_000_00, {"value_min_minor": 50_000_00}, 500),
        (20_000_00, {"value_min_minor": 50_000_00}, 0),
        (150_000_00, {"value_max_minor": 80_000_00}, 500),
        (170_000_00, {"value_max_minor": 80_000_00}, 0),
        (200_000_00, {"largest_project_minor": 100_000_00}, 1000),
        (400_000_00, {"largest_project_minor": 100_000_00}, 500),
        (400_000_01, {"largest_project_minor": 100_000_00}, 200),
        (400_000_01, {}, None),
    ],
)
def test_the_size_compares_with_the_range_or_the_largest_project(
    value: int, profile: dict[str, Any], tenths: int | None
) -> None:
    made = score(replace(TENDER, value_minor=value), replace(PROFILE, **profile), WEIGHTS, now=NOW)

    assert next(one.tenths for one in made.factors if one.key == "size") == tenths


GRADES: list[tuple[f.CidbAsked, f.CidbHeld, str]] = [
    (ASKED, HELD, "pass"),
    (ASKED, replace(HELD, grade=4), "fail"),
    (ASKED, replace(HELD, grade=4, emerging=True), "fail"),
    (replace(ASKED, emerging_allowed=True), replace(HELD, grade=4, emerging=True), "pass"),
    (ASKED, replace(HELD, works="CE"), "fail"),
    (ASKED, replace(HELD, valid_until=date(2026, 9, 15)), "fail"),
    (ASKED, replace(HELD, valid_until=date(2026, 9, 16)), "pass"),
    (ASKED, replace(HELD, valid_until=None), "unknown"),
    (replace(ASKED, sure=False), replace(HELD, grade=4), "unknown"),
    (replace(ASKED, sure=False), HELD, "unknown"),
]


def misgraded() -> list[int]:
    """The places of the gradings that are judged wrongly."""
    wrong = []
    for place, (asked, held, result) in enumerate(GRADES):
        found = gates(replace(TENDER, cidb=(asked,)), replace(PROFILE, cidb=(held,)), {}, now=NOW)
        if (one_of(found, "cidb_grade"), is_eligible(found)) != (result, result != "fail"):
            wrong.append(place)
    return wrong


@pytest.mark.rule("OPP-31")
def test_the_grade_counts_on_the_closing_day() -> None:
    assert misgraded() == []


@pytest.mark.parametrize(
    ("planted", "wrong"),
    [
        (lambda profile, asked, tender: "pass", [1, 2, 4, 5, 7, 8, 9]),
        (lambda profile, asked, tender: _today_graded(profile, asked, tender), [5]),
    ],
    ids=["grade", "day"],
)
def test_a_planted_grading_is_found(
    monkeypatch: pytest.MonkeyPatch, planted: Any, wrong: list[int]
) -> None:
    plant(monkeypatch, gate_rules, "grade_result", planted)

    assert misgraded() == wrong


_RIGHT_GRADE = gate_rules.grade_result


def _today_graded(profile: Any, asked: f.CidbAsked, tender: f.TenderFeatures) -> str:
    """A grading that lapses before the closing counts, if it is valid today."""
    return _RIGHT_GRADE(profile, asked, replace(tender, closes_at=NOW))


def attended_results() -> list[str]:
    """The gate for two briefings that are over, by what was recorded of them."""
    meeting, visit = uuid4(), uuid4()
    yesterday = NOW - timedelta(days=1)
    tender = replace(
        TENDER, briefings=(f.BriefingAsked(meeting, yesterday), f.BriefingAsked(visit, yesterday))
    )
    return [
        one_of(gates(tender, PROFILE, attended, now=NOW), "compulsory_briefing")
        for attended in (
            {meeting: "attended", visit: "attended"},
            {meeting: "attended"},
            {meeting: "attended", visit: "registered"},
            {meeting: "attended", visit: "missed"},
        )
    ]


ATTENDED = ["pass", "unknown", "unknown", "fail"]


@pytest.mark.rule("OPP-27")
def test_unrecorded_briefing_is_unknown_and_missed_one_fails() -> None:
    assert attended_results() == ATTENDED


def test_a_planted_silence_taken_for_absence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(state: str | None, *_: datetime) -> str:
        return "pass" if state == "attended" else "fail"

    plant(monkeypatch, gate_rules, "attendance_result", absent)

    assert attended_results() != ATTENDED


@pytest.mark.rule("OPP-31")
def test_blockers_of_compliance_and_wishes_are_gates() -> None:
    tender = replace(TENDER, mandatory_codes=frozenset({"tax_status"}), value_minor=10_000_00)
    wishes = replace(
        PROFILE,
        blockers=frozenset({"tax_status"}),
        excluded=(("school",),),
        notice_days=30,
        value_min_minor=20_000_00,
        buyer_types=frozenset({"municipality"}),
        methods=frozenset({"limited"}),
    )

    failing = failed_codes(gates(tender, wishes, {}, now=NOW))
    silent = gates(tender, replace(PROFILE, blockers=None), {}, now=NOW)

    assert failing == [
        "compliance_blocker",
        "excluded_keyword",
        "notice_period",
        "value_band",
        "buyer_type",
        "method",
    ]
    assert one_of(silent, "compliance_blocker") == "unknown"
    assert one_of(gates(tender, PROFILE, {}, now=TENDER.closes_at or NOW), "closed") == "fail"


@pytest.mark.rule("OPP-32")
def test_features_are_stored_and_read_again() -> None:
    row = replace(PROFILE, blockers=frozenset({"b", "a"})).to_row()

    assert f.ProfileFeatures.of_row(row).to_row() == row
    assert f.ProfileFeatures.of_row(row) == replace(PROFILE, blockers=frozenset({"a", "b"}))
