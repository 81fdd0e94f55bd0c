"""Trials that are bought: now, or by themselves when they end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import billing, paying
from tests.factories.paying import Payer
from tests.planting import plant
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.payments import methods
from thenga.domains.billing.services.trials import trials
from thenga.domains.billing.tables import Subscription, Trial
from thenga.kernel.process.host import Host

STARTED = datetime(2026, 11, 14, 8, tzinfo=UTC)
ENDS = datetime(2026, 11, 28, 22, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


ADDRESS = {"line1": "1 Long Street", "city": "Durban", "postal_code": "4001", "country": "ZA"}


async def trying(host: Host, clock: Time, **account: Any) -> tuple[Payer, Trial]:
    payer = await paying.payer(host, clock, STARTED, **account)
    work = payer.work()
    trial = await trials.start_trial(work, plan_code="professional")
    await work.finish()
    return payer, trial


async def convert(
    api: httpx2.AsyncClient, host: Host, payer: Payer, trial: Trial, **body: Any
) -> httpx2.Response:
    headers = await paying.owner_of(host, payer)
    return await api.post(f"/billing/trials/{trial.id}/convert", json=body, headers=headers)


async def subscription_of(payer: Payer, trial: Trial) -> Subscription:
    found: Subscription = await payer.read(Subscription, trial.subscription_id)
    return found


@pytest.mark.rule("BIL-18")
async def test_bought_now_it_is_paid_from_today_on(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock)
    clock.set(datetime(2026, 11, 20, 8, tzinfo=UTC))

    answer = await convert(
        *(api, host, payer, trial), interval="month", paymentMethodId=str(payer.method.id)
    )
    waiting = await payer.read(Trial, trial.id)
    await payer.settle()

    now = await subscription_of(payer, trial)
    told = await payer.told()
    assert (answer.status_code, answer.json()["payment"]["amount"]["amount"]) == (200, "1499.00")
    assert (answer.json()["status"], waiting.status) == ("active", "active")
    assert (await payer.read(Trial, trial.id)).status == "converted"
    assert (now.status, str(now.anchor_date), str(now.period_end)) == (
        *("active", "2026-11-20", "2026-12-20"),
    )
    assert (told.count("TrialEnded"), told.count("PaymentSucceeded")) == (1, 1)


@pytest.mark.rule("BIL-18")
async def test_a_declined_purchase_leaves_the_trial_as_it_was(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock)
    payer.card = "soft"

    await convert(
        *(api, host, payer, trial), interval="month", paymentMethodId=str(payer.method.id)
    )
    await payer.settle()
    declined = await documents(payer)
    still = (
        (await payer.read(Trial, trial.id)).status,
        (await subscription_of(payer, trial)).status,
    )
    work = payer.work()
    await trials.cancel_trial(work, trial.id)
    await work.finish()

    assert still == ("active", "trialing")
    assert declined == [("draft", "failed", None)]  # its money may still come, or be paid anew
    assert await documents(payer) == [("discarded", "failed", None)]
    assert "PaymentFailed" in await payer.told()


async def documents(payer: Payer) -> list[tuple[str, str, str | None]]:
    found = await payer.rows(
        "SELECT status, collection_status, number FROM billing.invoice "
        "WHERE organization_id = $1 ORDER BY id"
    )
    return [tuple(one) for one in found]


@pytest.mark.rule("BIL-18")
async def test_chosen_beforehand_it_converts_by_itself_at_its_end(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock)
    answer = await convert(api, host, payer, trial, interval="month", when="trial_end")
    await payer.at(ENDS - MINUTE)
    before = len(payer.charged)
    clock.set(ENDS)  # before any sweep
    headers = await paying.owner_of(host, payer)
    shown = (await api.get(f"/billing/trials/{trial.id}", headers=headers)).json()
    work = payer.work()
    access = (await current.signal(work, "analytics.briefings")).entitled
    await work.close()

    await payer.at(ENDS)

    now = await subscription_of(payer, trial)
    print(f"charged_before_end={before} after={len(payer.charged)} anchor={now.anchor_date}")
    assert (answer.json()["chosenInterval"], answer.json()["payment"]) == ("month", None)
    assert (before, len(payer.charged)) == (0, 1)
    assert (shown["status"], access) == ("active", True)
    assert (now.status, str(now.anchor_date), str(now.period_end)) == (
        *("active", "2026-11-29", "2026-12-29"),
    )
    assert (await payer.told()).count("TrialEnded") == 1


async def test_a_planted_conversion_that_forgets_the_choice_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
):
    payer, trial = await trying(host, clock)
    await convert(api, host, payer, trial, interval="month", when="trial_end")

    async def forgets(*_: Any) -> None:
        return None

    plant(monkeypatch, methods, "default_method", forgets)
    plant(monkeypatch, methods, "method_of", forgets)
    await payer.at(ENDS)

    assert (await subscription_of(payer, trial)).status == "ended"


@pytest.mark.rule("BIL-18")
async def test_a_declined_first_charge_keeps_the_plan_three_days(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock)
    await convert(api, host, payer, trial, interval="month", when="trial_end")
    payer.card = "soft"

    await payer.at(ENDS)
    behind = await subscription_of(payer, trial)
    (failure,) = await payer.rows(
        "SELECT grace_ends_at, retries_left, next_retry_at FROM billing.payment_failure "
        "WHERE organization_id = $1"
    )
    await payer.at(datetime(2026, 12, 2, 6, tzinfo=UTC))
    tried = len(payer.charged)
    kept = await subscription_of(payer, trial)
    await payer.at(failure["grace_ends_at"])

    ended = await subscription_of(payer, trial)
    invoices = await payer.rows(
        "SELECT status, number FROM billing.invoice WHERE organization_id = $1"
    )
    print(f"charges={tried} kept_until={failure['grace_ends_at']:%Y-%m-%dT%H:%MZ} {ended.status}")
    assert (behind.status, kept.status, ended.status) == ("past_due", "past_due", "ended")
    # Declined as 29 November begins: tried again on days 1 and 3, kept through day 3.
    assert failure["next_retry_at"] == datetime(2026, 11, 30, 6, tzinfo=UTC)
    assert failure["grace_ends_at"] == datetime(2026, 12, 2, 22, tzinfo=UTC)
    assert tried == 3
    assert [tuple(one) for one in invoices] == [("discarded", None)]


@pytest.mark.rule("BIL-18")
async def test_cancelling_after_a_declined_charge_stops_retries(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock)
    await convert(api, host, payer, trial, interval="month", when="trial_end")
    payer.card = "soft"
    await payer.at(ENDS)
    charged, behind = len(payer.charged), (await subscription_of(payer, trial)).status
    headers = await paying.owner_of(host, payer)

    left = await api.post(
        f"/billing/subscriptions/{trial.subscription_id}/cancel",
        json={"mode": "immediate", "reasonCode": "too_expensive"},
        headers=headers,
    )
    payer.card = "ok"
    await payer.at(ENDS + timedelta(days=40))

    failures = await payer.rows(
        "SELECT status, next_retry_at FROM billing.payment_failure WHERE organization_id = $1"
    )
    print(f"charges_before={charged} after_leaving={len(payer.charged) - charged}")
    assert (behind, left.status_code) == ("past_due", 202)
    assert len(payer.charged) == charged
    assert [tuple(one) for one in failures] == [("written_off", None)]
    assert await documents(payer) == [("discarded", "failed", None)]
    assert "PaymentRecovered" not in await payer.told()


@pytest.mark.rule("BIL-18")
async def test_the_retry_of_a_first_charge_makes_it_whole(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock, bill_to=billing.BILL_TO | {"address": ADDRESS})
    await convert(api, host, payer, trial, interval="year", when="trial_end")
    payer.card = "soft"
    await payer.at(ENDS)
    payer.card = "ok"

    await payer.at(datetime(2026, 11, 30, 6, tzinfo=UTC))

    now = await subscription_of(payer, trial)
    (invoice,) = await payer.rows(
        "SELECT status, gross_minor FROM billing.invoice WHERE organization_id = $1"
    )
    assert (now.status, str(now.anchor_date), str(now.period_end)) == (
        *("active", "2026-11-29", "2027-11-29"),
    )
    assert tuple(invoice) == ("paid", 1499000)
    assert "PaymentRecovered" in await payer.told()


async def test_for_its_end_a_method_must_be_on_file(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock)
    work = payer.work()
    await methods.revoke_method(work, payer.method.id)
    await work.finish()

    answer = await convert(api, host, payer, trial, interval="month", when="trial_end")

    assert (answer.status_code, answer.json()["code"]) == (422, "billing-payment-method-required")


@pytest.mark.rule("BIL-26")
async def test_what_could_not_be_printed_is_refused_when_it_is_chosen(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock)

    answer = await convert(api, host, payer, trial, interval="year", when="trial_end")

    assert (answer.status_code, answer.json()["code"]) == (422, "billing-tax-data-missing")


async def test_a_trial_that_is_over_is_not_converted(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, trial = await trying(host, clock)
    clock.set(ENDS)

    answer = await convert(
        *(api, host, payer, trial), interval="month", paymentMethodId=str(payer.method.id)
    )

    assert (answer.status_code, answer.json()["from"]) == (409, "expired")
