"""The rank of a listing and the score of a candidate, against figures worked out by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from thenga.domains.marketplace.services.matching import scoring
from thenga.domains.marketplace.services.matching.scoring import Fit, score
from thenga.domains.marketplace.services.search import ranking
from thenga.domains.marketplace.services.search.ranking import Ranked, freshness, rank
from thenga.domains.marketplace.values.factors import Score
from thenga.domains.marketplace.values.municipalities import province_of

NOW = datetime(2026, 11, 19, 8, tzinfo=UTC)


def ranked(**given: Any) -> Score:
    fields: dict[str, Any] = {
        "text": Decimal("0.8"),
        "level": 2,
        "trust": "unrated",
        "place": "province",
        "confirmed_at": NOW - timedelta(days=95),
    }
    return rank(Ranked(**fields | given), NOW)


def scored(**given: Any) -> Score:
    fields: dict[str, Any] = {
        "proof": "verified",
        "in_parent": False,
        "states": ["met"],
        "place": "province",
        "trust": "unrated",
    }
    return score(Fit(**fields | given))


def points(made: Score) -> dict[str, Decimal]:
    return {factor.key: factor.points for factor in made.factors}


@pytest.mark.rule("MKT-14")
def test_the_ranks_of_the_rule_are_55_1_and_52_3() -> None:
    with_place, without = ranked(), ranked(place=None)

    print(f"\nrank_with_place={with_place.score} rank_without_place={without.score}")
    assert with_place.score == Decimal("55.1")
    assert points(with_place) == {
        "text": Decimal("22.2222"),  # 50 x 0.8 / 1.8
        "verification": Decimal("13.3333"),  # 20 x 2 / 3
        "trust": Decimal("7.5"),  # 15 x 0.5
        "place": Decimal(8),  # 10 x 0.8
        "fresh": Decimal("4.0299"),  # 5 x (365 - 95) / (365 - 30)
    }
    assert without.score == Decimal("52.3")  # 47.0854 / 90


@pytest.mark.rule("MKT-14")
def test_only_factors_that_apply_are_counted() -> None:
    best = ranked(text=None, level=3, trust="trusted", place=None, confirmed_at=NOW)
    worst = ranked(
        text=Decimal(0),
        level=0,
        trust="blocked",
        place="none",
        confirmed_at=NOW - timedelta(days=400),
    )

    assert (best.score, worst.score) == (100, 0)
    assert [factor.key for factor in best.factors] == ["verification", "trust", "fresh"]


@pytest.mark.rule("MKT-14")
def test_money_and_ratings_are_no_factors() -> None:
    keys = {factor.key for factor in (*ranked().factors, *scored().factors)}

    assert keys == {*ranking.WEIGHTS, *scoring.WEIGHTS}
    assert not keys & {"price", "paid", "plan", "sponsored", "rating", "response"}
    assert sum(ranking.WEIGHTS.values()) == sum(scoring.WEIGHTS.values()) == 100


@pytest.mark.rule("MKT-14")
def test_a_listing_is_fresh_for_30_days_and_stale_after_a_year() -> None:
    assert [freshness(days) for days in (0, 30, 365, 900)] == [1, 1, 0, 0]
    assert freshness(95) == Decimal(270) / 335


@pytest.mark.rule("MKT-23")
def test_the_scores_of_the_rule_are_89_5_and_42_6() -> None:
    first = scored()
    second = scored(
        proof="claimed", in_parent=True, states=["unknown"], place="national", trust="trusted"
    )

    print(f"\nmatch_verified={first.score} match_claimed={second.score}")
    assert first.score == Decimal("89.5")
    assert list(points(first).values()) == [40, 30, 12, Decimal("7.5")]
    assert second.score == Decimal("42.6")
    assert list(points(second).values()) == [Decimal("9.6"), 9, 9, 15]  # 40 x 0.4 x 0.6 first


@pytest.mark.rule("MKT-23")
def test_unknown_trust_counts_as_unrated_and_is_shown_as_unknown() -> None:
    unknown = scored(trust=None)

    assert unknown.score == scored().score
    assert unknown.factors[-1].why == "Trust is unknown."


def test_points_add_up_to_the_score() -> None:
    off = 0
    for days in range(0, 400, 7):
        for level in range(4):
            made = ranked(text=Decimal(days) / 97, level=level, confirmed_at=NOW - timedelta(days))
            off += abs(sum(points(made).values()) - made.score) > Decimal("0.05")

    print(f"\nsum_off={off}")
    assert off == 0


@pytest.mark.parametrize(
    ("code", "province"),
    [
        ("EKU", "GP"),
        ("CPT", "WC"),
        ("GT421", "GP"),
        ("LIM354", "LP"),
        ("KZN225", "KZN"),
        ("DC42", "GP"),
        ("DC11", None),
        ("XYZ", None),
        ("GP", None),
    ],
)
def test_a_municipality_lies_in_one_province(code: str, province: str | None) -> None:
    assert province_of(code) == province
