"""What an organization holds and may do: sets, signals and remedies as pure functions."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import permutations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.domains.billing.public import Remedy
from thenga.domains.billing.services.access.levels import StandingStep
from thenga.domains.billing.services.catalogue import entitlement_types as types
from thenga.domains.billing.services.catalogue.entitlement_types import (
    Boolean,
    Entitlement,
    Limit,
    Metered,
)
from thenga.domains.billing.services.entitlements import merging as sets
from thenga.domains.billing.services.entitlements import remedies, signals
from thenga.domains.billing.services.entitlements.merging import Contribution, HeldSet, Source
from thenga.domains.billing.services.entitlements.remedies import Offer, Owed, RemedyInputs
from thenga.domains.billing.services.entitlements.signals import Question
from thenga.domains.billing.services.invoicing.billed_periods import BilledLine
from thenga.domains.billing.services.invoicing.unused_time import UnusedTime
from thenga.domains.billing.services.metering.totals import Used
from thenga.domains.billing.services.pricing.periods import Period
from thenga.domains.billing.tables import Access
from thenga.kernel.values.money import Money

NOW = datetime(2026, 11, 24, 8, tzinfo=UTC)
RESETS = datetime(2026, 12, 13, 22, tzinfo=UTC)
INVOICE = UUID("019a0000-0000-7000-8000-000000000001")
SEATS, RUNS, SMS = "identity.seats", "intelligence.reasoning_runs", "notification.sms.segment"
BRIEFINGS = "analytics.briefings"
EXPLORER = (Limit(SEATS, 1), Metered(RUNS, 10), Metered(SMS, 0), Boolean(BRIEFINGS, False))
STARTER = (
    *(Limit(SEATS, 3), Metered(RUNS, 100), Metered(SMS, 50, "soft", Decimal("0.60"))),
    Boolean(BRIEFINGS, False),
)
PROFESSIONAL = (
    *(Limit(SEATS, 10), Metered(RUNS, 500, "soft", Decimal("1.50"))),
    *(Metered(SMS, 250, "soft", Decimal("0.60")), Boolean(BRIEFINGS, True)),
)
ENTERPRISE = (Limit(SEATS, 50), Metered(RUNS, 3000, "soft", Decimal("1.20")))
BOOST = (Metered(RUNS, 200),)


def held(*contributions: Contribution, access: Access = Access.FULL, **more: object) -> HeldSet:
    steps = [StandingStep(NOW - timedelta(days=30), access, more.pop("because", None))]  # type: ignore[arg-type]
    made = sets.compute(contributions, EXPLORER, steps, NOW)
    return sets.replace(made, **more) if more else made


def plan(entitlements: tuple[Entitlement, ...]) -> Contribution:
    return Contribution(Source.PLAN, entitlements)


# --- sets -----------------------------------------------------------------------------------------


@pytest.mark.rule("BIL-3")
def test_several_sources_merge_and_are_listed():
    grant = Contribution(Source.GRANT, (Boolean(BRIEFINGS, True), Limit(SEATS, 2)))
    boost = Contribution(Source.ADDON, BOOST)

    made = held(plan(STARTER), boost, grant).items

    assert made[RUNS] == sets.Item(Metered(RUNS, 300), (Source.PLAN, Source.ADDON))
    assert made[SEATS] == sets.Item(Limit(SEATS, 5), (Source.PLAN, Source.GRANT))
    assert made[BRIEFINGS].entitlement == Boolean(BRIEFINGS, True)
    soft = held(plan(PROFESSIONAL), boost).items[RUNS].entitlement
    assert soft == Metered(RUNS, 700, "soft", Decimal("1.50"))
    unlimited = held(plan((Limit(SEATS, None),)), grant).items[SEATS].entitlement
    assert unlimited == Limit(SEATS, None)


METERED = st.builds(
    Metered,
    key=st.just(RUNS),
    included=st.none() | st.integers(0, 10**6),
    mode=st.sampled_from(["hard", "soft"]),
    overage_unit_price=st.none() | st.decimals(0, 10, places=3),
)


@pytest.mark.rule("BIL-3")
@given(parts=st.lists(METERED, min_size=2, max_size=4))
def test_the_order_of_sources_changes_nothing(parts):
    merged = {
        sets.merge(Contribution(Source.GRANT, (one,)) for one in order)[RUNS].entitlement
        for order in permutations(parts)
    }

    assert len(merged) == 1


def test_a_key_of_two_types_is_a_defect():
    with pytest.raises(TypeError, match=SEATS):
        held(plan((Limit(SEATS, 1),)), Contribution(Source.GRANT, (Boolean(SEATS, True),)))


def test_entitlements_are_stored_and_read_again():
    assert types.parse_entitlements(types.serialize_entitlements(PROFESSIONAL)) == PROFESSIONAL
    assert types.serialize_entitlements([Metered(SMS, 50, "soft", Decimal("0.004"))]) == [
        {
            "key": SMS,
            "type": "metered",
            "included": 50,
            "mode": "soft",
            "overageUnitPrice": "0.004",
            "resets": "month",
        }
    ]


@pytest.mark.rule("BIL-45")
def test_fallback_counts_as_soon_as_a_trial_ends():
    ends = datetime(2026, 11, 28, 22, tzinfo=UTC)
    trial = Contribution(Source.TRIAL, PROFESSIONAL, until=ends)
    before, after = (
        sets.compute([trial], EXPLORER, [], at) for at in (ends - timedelta(seconds=1), ends)
    )

    assert (before.items[SEATS].entitlement, before.valid_until) == (Limit(SEATS, 10), ends)
    assert (after.items[SEATS].entitlement, after.valid_until) == (Limit(SEATS, 1), None)
    assert after.items[SEATS].sources == (Source.FALLBACK,)
    assert (before.trial_ended, after.trial_ended) == (False, True)


EDGES = st.none() | st.integers(-50, 50).map(lambda hours: NOW + timedelta(hours=hours))


@pytest.mark.rule("BIL-45")
@given(
    spans=st.lists(st.tuples(st.sampled_from(Source), EDGES, EDGES), max_size=5),
    steps=st.lists(st.tuples(st.integers(-50, 50), st.sampled_from(Access)), max_size=4),
    percent=st.integers(0, 99),
)
def test_a_set_stays_true_until_the_instant_that_it_names(spans, steps, percent):
    given_ = [Contribution(source, BOOST, begins, until) for source, begins, until in spans]
    standing = [StandingStep(NOW + timedelta(hours=h), access) for h, access in steps]

    now = sets.compute(given_, EXPLORER, standing, NOW)
    until = now.valid_until or NOW + timedelta(days=400)
    later = sets.compute(given_, EXPLORER, standing, NOW + (until - NOW) * percent / 100)

    assert later == now


# --- signals --------------------------------------------------------------------------------------


def ask(
    given_: HeldSet | None, feature: str, used: int = 0, quantity: int = 1, known: bool = True
) -> tuple[bool, str, str]:
    counted = Used(used, 0, RESETS)
    said = signals.signal(given_, counted, NOW, Question(feature, quantity, known))
    return said.entitled, said.reason, said.state


OVERDUE = {"access": Access.READ_ONLY, "because": "payment_overdue"}


@pytest.mark.rule("BIL-4")
@pytest.mark.parametrize(
    ("given_", "asked", "answer"),
    [
        (None, (SEATS,), (False, "no_subscription", "missing")),
        (held(plan(STARTER)), ("bid.flights", 0, 1, False), (False, "unknown_feature", "missing")),
        (held(plan(STARTER)), (BRIEFINGS,), (False, "not_in_plan", "missing")),
        (held(plan(PROFESSIONAL)), (BRIEFINGS,), (True, "included", "granted")),
        (held(plan(STARTER)), (SEATS, 2), (True, "included", "granted")),
        (held(plan(STARTER)), (SEATS, 3), (False, "limit_reached", "exhausted")),
        (held(plan(STARTER)), (RUNS, 79), (True, "included", "granted")),
        (held(plan(STARTER)), (RUNS, 80), (True, "included", "limited")),
        (held(plan(STARTER)), (RUNS, 99, 2), (False, "limit_reached", "limited")),
        (held(plan(PROFESSIONAL)), (RUNS, 5000), (True, "included", "limited")),
        (
            held(plan(PROFESSIONAL), spend_capped=True),
            (RUNS, 5000),
            (False, "spend_cap_reached", "exhausted"),
        ),
        (held(plan(STARTER), access=Access.GRACE), (SEATS, 1), (True, "grace", "granted")),
        (held(plan(STARTER), **OVERDUE), (SEATS, 1), (False, "payment_overdue", "granted")),
        (
            held(plan(STARTER), access=Access.NONE, because="suspended"),
            (SEATS, 1),
            (False, "suspended", "granted"),
        ),
        (held(trial_ended=True), (SMS,), (False, "trial_ended", "missing")),
        (held(), (SEATS, 0), (True, "included", "granted")),
    ],
)
def test_a_signal_is_a_function_of_set_total_and_now(
    given_: HeldSet | None, asked: tuple, answer: tuple[bool, str, str]
):
    assert ask(given_, *asked) == answer


def test_reservations_count_and_signal_shows_what_remains():
    said = signals.signal(held(plan(STARTER)), Used(90, 9, RESETS), NOW, Question(RUNS))

    assert (said.limit, said.used, said.remaining, said.hard) == (100, 99, 1, True)
    assert (said.type, said.resets_at, said.access) == ("metered", RESETS, "full")


def test_planted_limit_ignoring_reservations_is_found():
    forgetful = signals.signal(held(plan(STARTER)), Used(99, 0), NOW, Question(RUNS))
    right = signals.signal(held(plan(STARTER)), Used(99, 1), NOW, Question(RUNS))

    assert (forgetful.entitled, right.entitled) == (True, False)


# --- remedies -------------------------------------------------------------------------------------

OFFERS = (
    Offer("explorer", Money.of("0"), EXPLORER),
    Offer("enterprise", Money.of("4999.00"), ENTERPRISE),
    Offer("professional", Money.of("1499.00"), PROFESSIONAL),
    Offer("starter", Money.of("499.00"), STARTER),
)
NOVEMBER = Period(date(2026, 11, 14), date(2026, 12, 14))
LEFT = UnusedTime(
    Period(date(2026, 11, 24), NOVEMBER.end),
    NOVEMBER.days,
    BilledLine(INVOICE, INVOICE, Money.of("499.00"), NOVEMBER),
)
SITUATION = RemedyInputs(OFFERS, remaining=LEFT)


def help_with(
    given_: HeldSet | None, feature: str, used: int = 0, situation: RemedyInputs = SITUATION
) -> Remedy | None:
    counted, asked = Used(used, 0, RESETS), Question(feature)
    said = signals.signal(given_, counted, NOW, asked)
    return remedies.with_remedy(said, counted, asked, situation).remedy


@pytest.mark.rule("BIL-46")
def test_refusal_names_the_cheapest_fitting_plan_and_price():
    found = help_with(held(plan(STARTER)), SEATS, 3)

    assert found == Remedy(
        kind="upgrade", plan_code="professional", amount_today=Money.of("666.66")
    )
    print(f"402 remedy={found.plan_code} amountToday={found.amount_today.amount}")


@pytest.mark.rule("BIL-46")
def test_whoever_pays_nothing_yet_pays_the_whole_price():
    free = RemedyInputs(OFFERS)

    assert help_with(held(trial_ended=True), SMS, situation=free) == Remedy(
        kind="upgrade", plan_code="starter", amount_today=Money.of("499.00")
    )


@pytest.mark.rule("BIL-46")
def test_where_no_plan_helps_one_waits_or_asks():
    poor = RemedyInputs(OFFERS[:1])

    assert help_with(held(plan(STARTER)), RUNS, 100, poor) == Remedy(kind="wait", at=RESETS)
    assert help_with(held(plan(STARTER)), SEATS, 3, poor) == Remedy(kind="contact")


@pytest.mark.rule("BIL-46")
def test_what_is_owed_is_paid_first_and_a_pause_is_resumed():
    owing = RemedyInputs(OFFERS, remaining=LEFT, owed=Owed(INVOICE, Money.of("1499.00")))
    dead = RemedyInputs(OFFERS, remaining=LEFT, owed=Owed(INVOICE, Money.of("1499.00"), False))
    resting = RemedyInputs(OFFERS, remaining=LEFT, resumes_at=RESETS)
    pay = {"invoice_id": INVOICE, "amount_today": Money.of("1499.00")}

    grace = help_with(held(plan(STARTER), access=Access.GRACE), SEATS, 1, owing)
    overdue = help_with(held(plan(STARTER), **OVERDUE), SEATS, 1, owing)
    stolen = help_with(held(plan(STARTER), **OVERDUE), SEATS, 1, dead)
    paused = help_with(
        held(plan(STARTER), access=Access.READ_ONLY, because="paused"), SEATS, 1, resting
    )

    assert grace == overdue == Remedy(kind="pay_invoice", **pay)
    assert stolen == Remedy(kind="update_method", **pay)
    assert paused == Remedy(kind="resume", at=RESETS)
    assert help_with(held(plan(STARTER)), SEATS, 1) is None
