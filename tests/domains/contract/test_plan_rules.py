"""Plans by number: percentages, amounts, cycles, lateness and measured performance."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.domains.contract.services.delivery import divide, find_cycle, percents_of
from thenga.domains.contract.services.risks import band_of, expected_loss
from thenga.domains.contract.services.suppliers.rules import SubcontractLimit, check_share
from thenga.domains.contract.services.workspaces import folded, standstill_of
from thenga.domains.contract.values import lateness, measures
from thenga.domains.contract.values.lateness import Progress
from thenga.domains.contract.values.measures import Timed
from thenga.domains.contract.values.plans import Dependency, PlannedMilestone
from thenga.kernel.values.money import Money

NONE: frozenset[date] = frozenset()
DUE = date(2027, 4, 14)


def planned(key: str, *after: str) -> PlannedMilestone:
    return PlannedMilestone(
        key=key,
        title=key,
        value_percent=Decimal(0),
        duration_days=10,
        due_on=DUE,
        depends_on=tuple(Dependency(one) for one in after),
    )


def progress(percent: str = "0", forecast: date | None = None) -> Progress:
    return Progress(DUE, 10, "working", Decimal(percent), forecast, False, False)


@pytest.mark.rule("CON-7")
def test_amounts_sum_to_the_cent_by_largest_remainder() -> None:
    odd = divide(Money.of("1000.01"), [Decimal(p) for p in ("33.3333", "33.3333", "33.3334")])
    contract_e = divide(Money.of("4830000.00"), [Decimal(p) for p in (20, 35, 25, 20)])

    print(f"odd={[one.amount for one in odd]} e={[one.amount for one in contract_e]}")
    assert [one.amount for one in odd] == ["333.34", "333.33", "333.34"]
    assert [one.amount for one in contract_e] == [
        "966000.00",
        "1690500.00",
        "1207500.00",
        "966000.00",
    ]


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=200))
def test_percentages_of_amounts_sum_to_exactly_100(amounts: list[int]) -> None:
    percents = percents_of(amounts)

    assert sum(percents) == Decimal("100.0000")
    for amount, percent in zip(amounts, percents, strict=True):
        assert abs(Fraction(percent) - Fraction(100 * amount, sum(amounts))) < Fraction(1, 10_000)


@pytest.mark.rule("CON-8")
def test_a_cycle_is_named_from_its_first_milestone() -> None:
    plan = [planned("M1", "M2"), planned("M2", "M1"), planned("M3", "M1")]

    assert find_cycle(plan) == ["M1", "M2", "M1"]
    assert find_cycle([planned("M1"), planned("M2", "M1")]) == []


@pytest.mark.rule("CON-12")
def test_a_milestone_is_overdue_from_the_next_local_day() -> None:
    assert not lateness.is_overdue(progress(), DUE)
    assert lateness.is_overdue(progress(), date(2027, 4, 15))


@pytest.mark.rule("CON-12")
def test_progress_falls_behind_in_the_last_ten_working_days() -> None:
    watched = date(2027, 3, 31)  # the tenth working day before, after the holidays of March

    assert lateness.reasons_of(progress(), watched, NONE) == []
    assert lateness.planned_percent(progress(), date(2027, 4, 7), NONE) == Decimal(50)
    assert lateness.reasons_of(progress("29"), date(2027, 4, 7), NONE) == ["behind"]
    assert lateness.reasons_of(progress("30"), date(2027, 4, 7), NONE) == []
    assert lateness.reasons_of(progress(forecast=date(2027, 5, 1)), watched, NONE) == [
        "forecast_late"
    ]


@pytest.mark.rule("CON-37")
def test_performance_is_measured_from_facts() -> None:
    weights = [(40, 0), (30, 0), (20, 4), (10, 0)]
    timed = [Timed(Decimal(weight), late) for weight, late in weights]

    on_time = measures.on_time(timed)
    quality = measures.quality(decided=12, at_first_delivery=9)
    value = measures.value_kept(agreed_minor=40_000_000, final_cost_minor=43_200_000)

    print(f"on_time={on_time} quality={quality} value={value}")
    assert (on_time, quality, value) == (Decimal("96.0"), Decimal("75.0"), Decimal("92.6"))
    assert measures.on_time([]) is None
    assert measures.quality(decided=0, at_first_delivery=0) is None


@pytest.mark.rule("CON-38")
def test_a_risk_has_a_score_a_band_and_an_expected_loss() -> None:
    bands = {score: band_of(score).value for score in (4, 5, 9, 10, 14, 15, 20, 25)}

    loss = expected_loss(Money.of("250000.00"), 4)

    assert bands == {
        4: "low",
        5: "medium",
        9: "medium",
        10: "high",
        14: "high",
        15: "critical",
        20: "critical",
        25: "critical",
    }
    assert loss == Money.of("175000.00")


@pytest.mark.rule("CON-35")
def test_the_subcontract_limit_is_compared_exactly() -> None:
    check_share(30_000_000, 100_000_000, Decimal(30))
    check_share(10**12, 1, None)

    with pytest.raises(SubcontractLimit):
        check_share(30_000_001, 100_000_000, Decimal(30))


@pytest.mark.rule("CON-5")
def test_only_a_municipality_has_a_standstill() -> None:
    assert standstill_of("mfma", date(2020, 12, 21), 21) == date(2021, 1, 11)
    assert standstill_of("pfma", date(2020, 12, 21), 21) is None
    assert folded("  Emfuleni  LOCAL-Municipality. ") == "emfuleni local municipality"
