"""The signed text of a variation and the limit on increases, by worked examples."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.domains.contract.services.variations.content import (
    SignedContent,
    canonical,
    content_hash,
)
from thenga.domains.contract.services.variations.limit import limit_use
from thenga.domains.contract.values.changes import MilestoneChange
from thenga.kernel.declare.law import VARIATION_LIMIT
from thenga.kernel.values.money import Money

LAW = VARIATION_LIMIT.default
VALUE = Money.of("4830000.00")
ROCK = SignedContent(
    contract_number="8/2/RNM0614",
    number="VO-001",
    title="Rock excavation",
    reason_code="unforeseen_conditions",
    value_delta=Money.of("460000.00"),
    days_delta=14,
    scope=None,
    milestone_changes=(MilestoneChange("M2", Money.of("460000.00")),),
)


@pytest.mark.rule("CON-31")
def test_a_known_signed_text_has_a_known_hash() -> None:
    print(canonical(ROCK).decode())
    assert content_hash(ROCK) == (
        "64c262761b343022e72438645a1c4ce528eb5a1b09c4ea7a4977a45afcfc848c"
    )


@pytest.mark.rule("CON-32")
def test_increases_of_works_stop_at_twenty_percent() -> None:
    sums, seen = Money.of("0"), []
    for delta in ("460000.00", "300000.00", "212000.00"):
        use = limit_use(VALUE, increases=sums, delta=Money.of(delta), allowed=LAW.works)
        seen.append((use.cumulative.amount, str(use.percent), use.state.value))
        sums = use.cumulative

    print(*seen, sep="\n")
    assert use.limit.amount == "966000.00"
    assert (use.cumulative - use.limit).amount == "6000.00"
    assert seen == [
        ("460000.00", "9.52", "within"),
        ("760000.00", "15.73", "within"),
        ("972000.00", "20.12", "exceeds"),
    ]


@pytest.mark.rule("CON-32")
def test_services_exceed_with_the_second_variation() -> None:
    use = limit_use(
        VALUE, increases=Money.of("460000.00"), delta=Money.of("300000.00"), allowed=LAW.other
    )

    assert (use.limit.amount, use.state) == ("724500.00", "exceeds")


@pytest.mark.rule("CON-32")
def test_a_decrease_gives_no_room_back() -> None:
    use = limit_use(
        VALUE, increases=Money.of("960000.00"), delta=Money.of("-500000.00"), allowed=LAW.works
    )

    assert (use.cumulative.amount, use.state) == ("960000.00", "warning")


@pytest.mark.rule("CON-32")
def test_large_contracts_meet_the_amount_before_the_share() -> None:
    use = limit_use(
        Money.of("500000000.00"),
        increases=Money.of("0"),
        delta=Money.of("20000000.01"),
        allowed=LAW.works,
    )

    assert (use.limit.amount, use.state) == ("20000000.00", "exceeds")


@given(st.integers(1, 10**12), st.lists(st.integers(-(10**11), 10**11), max_size=6))
def test_the_limit_agrees_with_plain_fractions(value: int, deltas: list[int]) -> None:
    sums = Money.of("0")
    for delta in deltas:
        use = limit_use(
            Money(value, "ZAR"), increases=sums, delta=Money(delta, "ZAR"), allowed=LAW.works
        )
        sums = use.cumulative

    slow = sum(delta for delta in deltas if delta > 0)
    assert sums.minor == slow
    if deltas:
        limit = min((2 * value + 5) // 10, 20_000_000 * 100)
        assert (use.state == "exceeds") == (slow > limit)


@pytest.mark.rule("CON-31")
def test_every_member_changes_the_hash() -> None:
    other = [
        MilestoneChange("M2", Money.of("460000.01")),
        MilestoneChange("M3", Money.of("460000.00")),
    ]
    changed = [SignedContent(**{**_members(), "milestone_changes": (one,)}) for one in other]
    changed += [
        SignedContent(**{**_members(), name: value})
        for name, value in (("title", "Rock"), ("days_delta", 15), ("scope", "Rock"))
    ]

    assert len({content_hash(one) for one in [ROCK, *changed]}) == 6


def _members() -> dict[str, object]:
    return {name: getattr(ROCK, name) for name in SignedContent.__slots__}


def test_a_change_survives_its_row() -> None:
    change = MilestoneChange("M2", Money.of("-1.00"))

    assert MilestoneChange.of_row(change.to_row()) == change
    assert limit_use(
        Money.of("0"), increases=Money.of("0"), delta=Money.of("0"), allowed=LAW.works
    ).percent == Decimal(0)
