"""What a subscription allows while it is not paid for, or paused: right at every instant."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.domains.billing.services.access import dunning_schedule as calendar
from thenga.domains.billing.services.access import levels as standing
from thenga.domains.billing.tables import (
    Access,
    FailureCategory,
    FailureKind,
    PaymentFailure,
    PlanKind,
    Subscription,
    SubscriptionStatus,
)

FAILED = datetime(2026, 11, 13, 22, 0, 7, tzinfo=UTC)  # the renewal of 14 November, local
GRACE_ENDS = datetime(2026, 11, 28, 22, tzinfo=UTC)
EXHAUSTED = datetime(2026, 12, 5, 6, tzinfo=UTC)
SECOND = timedelta(seconds=1)
INSTANTS = st.timedeltas(timedelta(0), timedelta(days=5_000)).map(lambda after: FAILED + after)
POLICY: dict[str, Any] = {
    "retryDays": [1, 3, 7, 14, 21],
    "graceDays": 14,
    "firstChargeGraceDays": 3,
    "firstChargeRetryDays": [1, 3],
    "afterGrace": "read_only",
    "afterExhausted": "none",
    "endAfterDays": 30,
    "graceNoticeDays": 3,
}


def failure(failed: datetime = FAILED, policy: dict[str, Any] = POLICY, **more: Any) -> Any:
    terms = standing.dunning_policy_of(policy)
    return PaymentFailure(
        organization_id=uuid4(),
        subscription_id=uuid4(),
        invoice_id=uuid4(),
        kind=FailureKind.DECLINED,
        category=FailureCategory.SOFT,
        first_failed_at=failed,
        policy=policy,
        policy_version=date(2026, 11, 1),
        retries_left=0,
        grace_ends_at=calendar.grace_ends_at(failed, terms),
        ends_at=failed + timedelta(days=100),
        **more,
    )


def plan(status: SubscriptionStatus = SubscriptionStatus.PAST_DUE, **more: Any) -> Subscription:
    return Subscription(
        organization_id=uuid4(),
        account_id=uuid4(),
        plan_code="professional",
        plan_version=1,
        kind=PlanKind.BASE,
        status=status,
        **more,
    )


@pytest.mark.rule("BIL-41")
@pytest.mark.parametrize(
    ("now", "access"),
    [
        (FAILED, Access.GRACE),
        (GRACE_ENDS - SECOND, Access.GRACE),
        (GRACE_ENDS, Access.READ_ONLY),
        (EXHAUSTED, Access.NONE),
    ],
)
def test_access_is_reduced_step_by_step(now: datetime, access: Access):
    assert standing.access_level(plan(), failure(exhausted_at=EXHAUSTED), now) is access


@pytest.mark.rule("BIL-41")
def test_a_policy_that_keeps_access_only_tells():
    keeping = failure(policy=POLICY | {"afterGrace": "keep", "afterExhausted": "keep"})
    keeping.exhausted_at = GRACE_ENDS

    later = GRACE_ENDS + timedelta(days=9)
    assert standing.access_level(plan(), keeping, later) is Access.GRACE


def test_a_shield_holds_the_reduction_back_until_its_instant():
    until = datetime(2026, 12, 2, 9, tzinfo=UTC)
    shielded = failure(shielded_until=until)

    held = [standing.access_level(plan(), shielded, now) for now in (until - SECOND, until)]

    assert held == [Access.GRACE, Access.READ_ONLY]


@given(failed=INSTANTS, later=st.timedeltas(timedelta(0), timedelta(days=60)))
def test_access_never_rises_while_nothing_is_paid(failed: datetime, later: timedelta):
    rank = list(Access)
    exhausted_at = calendar.retries(failed, standing.dunning_policy_of(POLICY))[-1]
    unpaid = failure(failed, exhausted_at=exhausted_at)

    def level(at: datetime) -> int:
        return rank.index(standing.access_level(plan(), unpaid, at))

    assert level(failed + later) <= level(failed + later + timedelta(hours=7))


@pytest.mark.rule("BIL-13")
@pytest.mark.rule("BIL-41")
@pytest.mark.parametrize(
    ("now", "access", "because"),
    [
        ("2026-11-15T21:59:59Z", Access.GRACE, None),
        ("2026-11-15T22:00:00Z", Access.READ_ONLY, "paused"),
        ("2026-11-28T22:00:00Z", Access.READ_ONLY, "payment_overdue"),
        ("2026-12-05T06:00:00Z", Access.NONE, "suspended"),
        ("2026-12-19T22:00:00Z", Access.NONE, "suspended"),
    ],
)
def test_pause_neither_opens_nor_pays_a_failure(now: str, access: Access, because: str | None):
    paused = plan(
        SubscriptionStatus.PAUSED, paused_on=date(2026, 11, 15), resume_on=date(2026, 12, 20)
    )
    unpaid, at = failure(exhausted_at=EXHAUSTED), datetime.fromisoformat(now)

    steps = standing.access_steps(paused, unpaid)
    reached = [one for one in steps if one.from_at <= at][-1]

    assert standing.access_level(paused, unpaid, at) is access
    assert (reached.access, reached.because) == (access, because)


def test_a_pause_after_the_first_failure_is_not_opened_by_it():
    """Paused on 15 November, late from the 22nd on."""
    paused = plan(SubscriptionStatus.PAUSED, paused_on=date(2026, 11, 15))
    late = failure(datetime(2026, 11, 21, 22, tzinfo=UTC))

    levels = [
        standing.access_level(paused, late, datetime(2026, 11, day, 10, tzinfo=UTC))
        for day in (16, 23)
    ]

    assert levels == [Access.READ_ONLY, Access.READ_ONLY]


def test_two_reductions_of_one_instant_are_the_stronger_one():
    """The last retry may lie in the grace: both reductions then come with its end."""
    early = failure(exhausted_at=GRACE_ENDS - timedelta(days=2))

    (last,) = [one for one in standing.access_steps(plan(), early) if one.from_at == GRACE_ENDS]

    assert (last.access, last.because) == (Access.NONE, "suspended")
