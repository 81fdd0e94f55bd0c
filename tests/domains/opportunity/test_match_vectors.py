"""Score and gates of a match by the vectors of the rules, without a database."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.domains.opportunity.services.matching import features as f
from thenga.domains.opportunity.services.matching.gates import (
    Gate,
    failed_codes,
    gates,
    is_eligible,
)
from thenga.domains.opportunity.services.matching.scoring import Factor, combine, score
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


@pytest.mark.rule("OPP-30")
def test_the_vectors_of_the_score() -> None:
    unknown = score(TENDER, PROFILE, WEIGHTS, now=NOW)
    in_band = score(
        replace(TENDER, value_minor=500_000_00),
        replace(PROFILE, value_max_minor=900_000_00),
        WEIGHTS,
        now=NOW,
    )

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


@pytest.mark.rule("OPP-31")
@pytest.mark.parametrize(
    ("asked", "held", "result"),
    [
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
    ],
)
def test_the_grade_counts_on_the_closing_day(
    asked: f.CidbAsked, held: f.CidbHeld, result: str
) -> None:
    found = gates(replace(TENDER, cidb=(asked,)), replace(PROFILE, cidb=(held,)), {}, now=NOW)

    assert one_of(found, "cidb_grade") == result
    assert is_eligible(found) == (result != "fail")


@pytest.mark.rule("OPP-27")
def test_unrecorded_briefing_is_unknown_and_missed_one_fails() -> None:
    meeting, visit = uuid4(), uuid4()
    yesterday = NOW - timedelta(days=1)
    tender = replace(
        TENDER, briefings=(f.BriefingAsked(meeting, yesterday), f.BriefingAsked(visit, yesterday))
    )

    results = [
        one_of(gates(tender, PROFILE, attended, now=NOW), "compulsory_briefing")
        for attended in (
            {meeting: "attended", visit: "attended"},
            {meeting: "attended"},
            {meeting: "attended", visit: "registered"},
            {meeting: "attended", visit: "missed"},
        )
    ]

    assert results == ["pass", "unknown", "unknown", "fail"]


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
