"""The payment clock, ageing and retention dates by worked examples."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domains.contract.slow_money import age_by_counting, due_by_counting
from thenga.domains.contract.services.invoicing import payment_clock as clock
from thenga.domains.contract.services.invoicing.payment_clock import Bucket, ClockRun
from thenga.domains.contract.services.ledger import balance_account, releasable, release_parts
from thenga.domains.contract.tables import ReturnReason
from thenga.kernel.values.money import Money

DAYS = st.dates(date(2020, 1, 1), date(2035, 12, 31))


@pytest.mark.rule("CON-21")
@pytest.mark.parametrize(
    ("received", "due"),
    [
        ("2026-11-02", "2026-12-02"),
        ("2026-12-15", "2027-01-14"),
        ("2027-01-29", "2027-02-28"),
    ],
)
def test_thirty_days_leave_out_the_day_of_receipt(received: str, due: str) -> None:
    assert clock.due_on(date.fromisoformat(received), 30).isoformat() == due


@pytest.mark.rule("CON-21")
def test_a_return_voids_the_clock_and_receipt_starts_it_anew() -> None:
    history, first = clock.start_clock([], date(2026, 11, 2), 30)
    history = clock.stop_clock(history, date(2026, 11, 20), ReturnReason.MISSING_PAPERS)
    history, due = clock.start_clock(history, date(2026, 11, 25), 30)

    assert (first.isoformat(), due.isoformat()) == ("2026-12-02", "2026-12-25")
    assert [(run.due_on, run.reason_code) for run in history] == [
        (first, ReturnReason.MISSING_PAPERS),
        (due, None),
    ]
    assert [ClockRun.of_row(run.to_row()) for run in history] == history


@pytest.mark.rule("CON-23")
def test_overdue_begins_at_the_local_midnight_after_the_due_date() -> None:
    assert clock.overdue_from(date(2026, 12, 2)).isoformat() == "2026-12-02T22:00:00+00:00"


@pytest.mark.rule("CON-23")
@pytest.mark.parametrize(
    ("late", "bucket"),
    [
        (-1, "not_due"),
        (0, "not_due"),
        (1, "days_1_30"),
        (30, "days_1_30"),
        (31, "days_31_60"),
        (60, "days_31_60"),
        (61, "days_61_90"),
        (90, "days_61_90"),
        (91, "days_91_up"),
        (400, "days_91_up"),
    ],
)
def test_buckets_change_on_their_days(late: int, bucket: str) -> None:
    due = date(2026, 12, 2)

    assert clock.bucket_on(due, due + timedelta(days=late)) == bucket


@given(DAYS, st.integers(0, 120), st.integers(-200, 200))
def test_dates_agree_with_counting(received: date, days: int, late: int) -> None:
    due = clock.due_on(received, days)
    today = due + timedelta(days=late)

    assert due == due_by_counting(received, days)
    assert clock.bucket_on(due, today).value == age_by_counting(due, today)


@given(DAYS)
def test_each_step_begins_the_next_bucket(due: date) -> None:
    told, steps = Bucket.NOT_DUE, 0
    while (at := clock.next_step(due, told)) is not None:
        local = (at + timedelta(hours=2)).date()
        following = clock.bucket_on(due, local)
        assert clock.bucket_on(due, local - timedelta(days=1)) == told
        assert following != told
        told, steps = following, steps + 1

    assert (told, steps) == (Bucket.DAYS_91_UP, 4)


@pytest.mark.rule("CON-17")
def test_half_of_the_retention_waits_for_the_defects_period() -> None:
    parts = release_parts(
        retained=Money.of("241500.00"),
        released=Money.of("0"),
        first_percent=Decimal(50),
        completed_on=date(2027, 4, 21),
        defects_days=90,
    )

    assert [(one.part, one.amount.amount, one.releasable_on.isoformat()) for one in parts] == [
        (1, "120750.00", "2027-04-21"),
        (2, "120750.00", "2027-07-20"),
    ]
    assert releasable(parts, date(2027, 7, 19), "ZAR").amount == "120750.00"
    assert releasable(parts, date(2027, 7, 20), "ZAR").amount == "241500.00"


@pytest.mark.rule("CON-17")
@given(st.integers(0, 10**9), st.decimals(0, 100, places=1), st.integers(0, 100))
def test_parts_always_sum_to_what_is_still_retained(
    retained: int, first: Decimal, cut: int
) -> None:
    whole = Money(retained, "ZAR")
    released = whole.times(Decimal(cut) / 100)

    parts = release_parts(
        retained=whole,
        released=released,
        first_percent=first,
        completed_on=date(2027, 4, 21),
        defects_days=90,
    )

    assert sum((one.amount for one in parts), Money(0, "ZAR")) == whole - released
    assert all(one.amount > Money(0, "ZAR") for one in parts)


@pytest.mark.rule("CON-42")
def test_what_was_not_claimed_is_named() -> None:
    account = balance_account(
        original_value=Money.of("4830000.00"),
        current_value=Money.of("5290000.00"),
        claimed=Money.of("5280000.00"),
        adjustments=[Money.of("-4000.00")],
    )

    assert (account.agreed.amount, account.unclaimed.amount) == ("5286000.00", "6000.00")
