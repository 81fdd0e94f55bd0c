"""Readiness as a pure function: worked examples, and a slow second one beside it."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domains.compliance import readiness_oracle
from tests.domains.compliance.worlds import MET, RULES, TODAY, need, random_world, vector
from tests.planting import plant
from tests.suites.sizes import size
from thenga.domains.compliance.services import readiness
from thenga.domains.compliance.services.readiness import assessing, scoring
from thenga.domains.compliance.services.readiness.values import (
    Doubt,
    Gate,
    Need,
    Outcome,
    Point,
    Standing,
    State,
)
from thenga.domains.compliance.values.confidence import confidence

WORLDS = size(400, 20_000)
PAST_PIN = date(2026, 12, 16)
CLOSING = datetime(2026, 12, 10, 9, tzinfo=UTC)


def with_tax(needs: list[Need], **changes: object) -> list[Need]:
    """The vector's company with another tax proof."""
    found = []
    for one in needs:
        if one.code == "tax_compliance":
            (subject,) = one.subjects
            proof = replace(subject.proofs[0], **changes)  # type: ignore[arg-type]  # test's names
            one = replace(one, subjects=(replace(subject, proofs=(proof,)),))
        found.append(one)
    return found


def figures(found: Outcome) -> tuple[str, ...]:
    """Verdict, score, raw score and range, as printed."""
    return (
        found.verdict.value,
        *(str(value) for value in (found.score, found.raw_score, found.low, found.high)),
    )


def outcomes() -> tuple[Outcome, Outcome, Outcome]:
    """The vector's company today, after its PIN ended, and with a tax check without an answer."""
    unsure = with_tax(vector(), standing=Standing.UNVERIFIED, doubt=Doubt.NO_ANSWER)
    return (
        readiness.evaluate(vector(), RULES, on=TODAY, today=TODAY),
        readiness.evaluate(vector(), RULES, on=PAST_PIN, today=TODAY),
        readiness.evaluate(unsure, RULES, on=TODAY, today=TODAY),
    )


SHOWN = [
    ("ready_with_warnings", "78.2", "78.2", "78.2", "78.2"),
    ("not_ready", "49.0", "53.2", "53.2", "53.2"),
    ("unknown", "70.9", "70.9", "53.2", "78.2"),
]


@pytest.mark.rule("CMP-28")
@pytest.mark.rule("CMP-29")
def test_a_worked_example_has_its_scores() -> None:
    good, past, unknown = outcomes()

    print(f"vector: {good.score} / {past.raw_score} / {past.score} / {unknown.score}")
    assert [figures(one) for one in (good, past, unknown)] == SHOWN
    assert past.blockers == ("tax_compliance",)
    scores = {part.code: part.score for part in good.components}
    assert scores == {
        "registration": Decimal("73.6"),
        "tax": Decimal("100.0"),
        "integrity": Decimal("95.0"),
        "ownership": Decimal("60.0"),
        "labour": Decimal("37.5"),
        "standing": Decimal("60.0"),
    }


def _cut(value: Fraction | None) -> Decimal | None:
    return None if value is None else Decimal(int(value * 10)) / 10


@pytest.mark.parametrize(
    ("name", "bug", "wrong"),
    [
        ("_rounded", _cut, [0, 1, 2]),
        ("_capped", lambda raw, rules: scoring._rounded(raw), [1]),
        ("_at_best", lambda item: item.value or Fraction(0), [2]),
    ],
)
def test_a_planted_score_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, bug: Any, wrong: list[int]
) -> None:
    plant(monkeypatch, scoring, name, bug)

    found = [figures(one) for one in outcomes()]

    assert [place for place, one in enumerate(found) if one != SHOWN[place]] == wrong


@pytest.mark.rule("CMP-30")
def test_dates_of_a_tender_and_what_lapses() -> None:
    ends = readiness.validity_end(CLOSING, 90)
    dates = readiness.tender_dates(
        closing_at=CLOSING, validity_ends_on=ends, expected_award_on=None
    )

    found = readiness.evaluate_tender(lambda _: vector(), lambda _: RULES, dates, today=TODAY)

    assert [(one.point, str(one.on), one.is_assumed) for one in dates] == [
        (Point.CLOSING, "2026-12-10", False),
        (Point.AWARD, "2027-02-08", True),
        (Point.VALIDITY_END, "2027-03-10", False),
    ]
    assert found.at_closing.verdict == "ready_with_warnings"
    lapses = [(one.need.code, str(one.ends_on), one.missed.point) for one in found.lapses]
    assert lapses == [
        ("tax_compliance", "2026-12-16", Point.AWARD),
        ("tax_compliance", "2026-12-16", Point.VALIDITY_END),
    ]


@pytest.mark.rule("CMP-30")
def test_award_is_not_assumed_after_the_offer_ends() -> None:
    ends = date(2027, 1, 9)
    dates = readiness.tender_dates(
        closing_at=CLOSING, validity_ends_on=ends, expected_award_on=None
    )

    assert dates[1].on == ends


@pytest.mark.rule("CMP-30")
def test_a_live_state_counts_as_last_checked_on_a_future_day() -> None:
    checked = replace(MET, checked_on=TODAY - timedelta(days=7))
    csd = replace(need("csd", "registration", 10, Gate.HARD, checked), recheck_days=7)

    later = readiness.assess(csd, on=TODAY + timedelta(days=60), today=TODAY)
    overdue = readiness.assess(csd, on=TODAY + timedelta(days=1), today=TODAY + timedelta(days=1))

    assert (later.state, later.assumptions) == (State.MET, ("live_state",))
    assert (overdue.state, overdue.reasons) == (State.PROVISIONAL, ("recheck_due",))


@pytest.mark.rule("CMP-40")
def test_confidence_halves_with_each_missed_recheck() -> None:
    found = [confidence("registry", age_days=days, recheck_days=7) for days in (0, 7, 8, 15)]

    assert [str(one) for one in found] == ["0.95", "0.95", "0.48", "0.24"]
    assert confidence("internal", age_days=300, recheck_days=None) == Decimal("0.75")
    assert confidence(None, recheck_days=7) is None


def differs(seed: int) -> bool:
    """Whether the product and the oracle say different things of a world."""
    needs, on, point = random_world(seed)
    found = readiness.evaluate(needs, RULES, on=on, today=TODAY, point=point)
    expected = readiness_oracle.answer(needs, RULES, on, TODAY, point)
    told = {
        "verdict": found.verdict.value,
        "score": None if found.score is None else str(found.score),
        "raw": None if found.raw_score is None else str(found.raw_score),
        "range": tuple(None if one is None else str(one) for one in (found.low, found.high)),
        "blockers": sorted(found.blockers),
        "states": [item.state.value for item in found.items],
    }
    return told != expected


@pytest.mark.rule("CMP-27")
@pytest.mark.rule("CMP-28")
def test_product_and_oracle_agree_on_random_worlds() -> None:
    count = {"worlds": 0, "differences": 0}

    @settings(max_examples=WORLDS, deadline=None, database=None)
    @given(st.integers(0, 2**60))
    def compare(seed: int) -> None:
        count["worlds"] += 1
        count["differences"] += differs(seed)

    compare()

    print(f"worlds={count['worlds']} differences={count['differences']}")
    assert count["worlds"] >= WORLDS
    assert not count["differences"]


def test_a_proof_that_counts_after_its_last_day_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, assessing, "_NOTHING", frozenset({State.MISSING, State.FAILED}))

    assert any(differs(seed) for seed in range(300))
