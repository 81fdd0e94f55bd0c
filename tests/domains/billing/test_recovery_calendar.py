"""What follows a failed payment: pure functions of the first failure."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.domains.billing.services.access import dunning_schedule as calendar
from thenga.domains.billing.services.payments import card_networks
from thenga.domains.billing.settings import DunningPolicy
from thenga.domains.billing.tables import FailureCategory

POLICY = DunningPolicy()
FAILED = datetime(2026, 11, 13, 22, 0, 7, tzinfo=UTC)  # the renewal of 14 November, local
GRACE_ENDS = datetime(2026, 11, 28, 22, tzinfo=UTC)


@pytest.mark.rule("BIL-39")
def test_a_charge_is_tried_again_on_five_mornings():
    found = calendar.retries(FAILED, POLICY)

    print(f"failed=2026-11-14 retries={','.join(f'{at:%d %b %H:%MZ}' for at in found)}")
    assert [f"{at:%Y-%m-%dT%H:%MZ}" for at in found] == [
        "2026-11-15T06:00Z",
        "2026-11-17T06:00Z",
        "2026-11-21T06:00Z",
        "2026-11-28T06:00Z",
        "2026-12-05T06:00Z",
    ]


@pytest.mark.rule("BIL-41")
def test_grace_is_fourteen_days_after_the_last_retry_in_it():
    ends = calendar.grace_ends_at(FAILED, POLICY)

    print(f"graceEndsAt={ends:%FT%TZ}")
    assert ends == GRACE_ENDS
    assert calendar.retries(FAILED, POLICY)[3] < ends
    assert calendar.grace_notice_at(FAILED, POLICY) == ends - timedelta(days=3)
    assert calendar.ends_at(FAILED, POLICY) == datetime(2026, 12, 13, 22, tzinfo=UTC)


@pytest.mark.rule("BIL-42")
def test_a_stolen_card_is_never_tried_again_and_an_empty_one_is():
    hard = ["04", "07", "12", "14", "15", "41", "43", "46", "57", "R0", "R1", "r3"]

    assert {card_networks.category_of(code) for code in hard} == {FailureCategory.HARD}
    assert card_networks.category_of("51") is FailureCategory.SOFT


@pytest.mark.rule("BIL-42")
def test_attempts_with_one_method_are_bounded_a_day_and_a_month():
    now = datetime(2026, 11, 14, 8, tzinfo=UTC)
    in_a_day = [now - timedelta(hours=h) for h in range(10)]
    in_a_month = [now - timedelta(days=2 * n) for n in range(15)]

    assert card_networks.next_attempt_at(in_a_day[:9], now) == now
    assert card_networks.next_attempt_at(in_a_day, now) == now + timedelta(hours=15)
    assert card_networks.next_attempt_at(in_a_month[:14], now) == now
    assert card_networks.next_attempt_at(in_a_month, now) == now + timedelta(days=2)


@given(times=st.lists(st.integers(0, 45 * 24), max_size=40))
def test_whoever_waits_as_told_is_never_over_the_bounds(times):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    made: list[datetime] = []
    for hours in sorted(times):
        at = card_networks.next_attempt_at(made, max([start + timedelta(hours=hours), *made[-1:]]))
        made.append(at)

    for at in made:
        day = [one for one in made if timedelta(0) <= at - one < timedelta(hours=24)]
        month = [one for one in made if timedelta(0) <= at - one < timedelta(days=30)]
        assert len(day) <= 10
        assert len(month) <= 15
