"""Renewals: each period once, on its own day, whenever and however often the job runs."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.paying import Payer
from tests.planting import plant
from tests.world import World
from thenga.domains.billing.public import UsageEntry
from thenga.domains.billing.services.dunning import retries
from thenga.domains.billing.services.payments import methods
from thenga.domains.billing.services.subscriptions import renewals
from thenga.domains.billing.services.usage import recording
from thenga.domains.billing.tables import Invoice, Renewal, Subscription
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight

JANUARY = datetime(2027, 1, 31, 8, tzinfo=UTC)
# Anchor 31 January 2027: the month's last day where it has no 31st, never drifting (BIL-6).
STARTS = [
    *("2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31", "2027-06-30", "2027-07-31"),
    *("2027-08-31", "2027-09-30", "2027-10-31", "2027-11-30", "2027-12-31", "2028-01-31"),
    "2028-02-29",
]


async def renewed(payer: Payer) -> list[Any]:
    return await payer.rows(
        "SELECT period_start, renewed_at, notice_sent_at, amount_minor FROM billing.renewal "
        "WHERE organization_id = $1 AND renewed_at IS NOT NULL ORDER BY period_start"
    )


@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-6")
async def test_thirteen_months_are_thirteen_renewals_on_their_own_days(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, JANUARY)
    bought = await payer.buy("starter")

    await payer.at(local_midnight(date(2028, 2, 29)) + timedelta(minutes=1))

    rows = await renewed(payer)
    on_time = [row["renewed_at"] == local_midnight(row["period_start"]) for row in rows]
    told = await payer.told()
    documents = await payer.rows(
        "SELECT number, gross_minor, status, amount_due_minor FROM billing.invoice "
        "WHERE organization_id = $1 ORDER BY issued_at, number"
    )
    spans = await payer.rows(
        "SELECT starts_on, ends_on FROM billing.billed_span "
        "WHERE organization_id = $1 ORDER BY starts_on"
    )
    print(
        f"anchor=2027-01-31 renewals={len(rows)} on_time={sum(on_time)} "
        f"RenewalDue={told.count('RenewalDue')} invoices={len(documents)} "
        f"paid={sum(one['status'] == 'paid' for one in documents)}"
    )
    assert [str(row["period_start"]) for row in rows] == STARTS
    assert all(on_time)
    assert told.count("RenewalDue") == 13
    assert [one["gross_minor"] for one in documents] == [49900] * 14
    assert all(one["status"] == "paid" and one["number"] for one in documents)
    assert [one["starts_on"] for one in spans[1:]] == [one["ends_on"] for one in spans[:-1]]
    now = await payer.read(Subscription, bought.id)
    assert (str(now.period_start), str(now.period_end)) == ("2028-02-29", "2028-03-31")


@pytest.mark.rule("BIL-14")
async def test_the_job_run_three_times_and_once_early_makes_one(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, JANUARY)
    bought = await payer.buy("starter")
    renews_at = local_midnight(date(2027, 2, 28))

    for at in (renews_at - timedelta(seconds=1), renews_at, renews_at, renews_at):
        clock.set(at)
        work = payer.work()
        subscription = await work.lock(Subscription, bought.id)
        await renewals.renew(work, subscription)
        await work.finish()
        await payer.settle()

    rows = await renewed(payer)
    print(f"runs=4 early=1 renewals={len(rows)} charges={len(payer.charged)}")
    assert [str(row["period_start"]) for row in rows] == ["2027-02-28"]
    assert len(payer.charged) == 2  # the purchase and the one renewal


async def test_database_refuses_a_planted_second_renewal(
    host: Host, seeded: None, clock: Time, monkeypatch: pytest.MonkeyPatch
):
    payer = await paying.payer(host, clock, JANUARY)
    bought = await payer.buy("starter")
    await payer.at(local_midnight(date(2027, 2, 28)))

    async def forgets(work: Work, subscription: Subscription, first_day: date) -> Renewal:
        row = await work.lock_by(Renewal, subscription_id=subscription.id, period_start=first_day)
        row.renewed_at = None
        return row

    plant(monkeypatch, renewals, "_row", forgets)
    work = payer.work()
    subscription = await work.lock(Subscription, bought.id)
    subscription.period_end = date(2027, 2, 28)
    with pytest.raises(asyncpg.IntegrityConstraintViolationError):
        await renewals.renew(work, subscription)
    await work.close()


@pytest.mark.rule("BIL-14")
async def test_credit_pays_first_and_the_rest_is_charged(world: World):
    await world.subscriber(plan="starter", on="2027-01-31", credit="99.00")
    path = f"/billing/subscriptions/{(await world.only(Subscription)).id}"
    before = await world.get(f"{path}/renewal")
    shown = await world.get(f"{path}/upcoming-invoice")

    await world.until("2027-02-28")

    invoice = await world.only(Invoice, purpose="renewal")
    told = (invoice.gross_minor, invoice.credit_applied_minor, invoice.amount_paid_minor)
    assert (before["state"], before["renewsOn"], before["blockers"]) == (
        *("upcoming", "2027-02-28"),
        [],
    )
    assert before["amountToCharge"]["amount"] == shown["amountDue"]["amount"] == "400.00"
    assert (shown["net"]["amount"], shown["vat"]["amount"]) == ("433.91", "65.09")
    assert (told, invoice.status) == ((49900, 9900, 40000), "paid")
    assert world.cards.charged[-1].amount_minor == 40000


@pytest.mark.rule("BIL-23")
async def test_usage_above_the_plan_is_on_the_invoice_of_the_renewal(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, JANUARY)
    bought = await payer.buy("professional")
    clock.set(JANUARY + timedelta(days=3))
    work = payer.work()
    used = UsageEntry(
        meter="intelligence.reasoning_runs", key="run", quantity=537, occurred_at=work.now
    )
    await recording.record_usage(work, [used])
    await work.finish()
    path = f"/billing/subscriptions/{bought.id}/upcoming-invoice"

    shown = (await api.get(path, headers=await paying.owner_of(host, payer))).json()
    await payer.at(local_midnight(date(2027, 2, 28)))

    (invoice,) = await payer.rows(
        "SELECT gross_minor, status FROM billing.invoice "
        "WHERE organization_id = $1 AND purpose = 'renewal'"
    )
    lines = [(line["kind"], line["gross"]["amount"]) for line in shown["lines"]]
    print(f"upcoming={shown['gross']['amount']} billed={invoice['gross_minor'] / 100:.2f} {lines}")
    assert lines == [("recurring", "1499.00"), ("usage", "55.50")]
    assert shown["gross"]["amount"] == "1554.50"
    assert tuple(invoice) == (155450, "paid")


@pytest.mark.rule("BIL-14")
async def test_nothing_renews_while_nothing_is_delivered(host: Host, seeded: None, clock: Time):
    payer = await paying.payer(host, clock, JANUARY)
    bought = await payer.buy("starter")
    payer.card = "soft"

    await payer.at(local_midnight(date(2027, 2, 28)) + timedelta(days=31, hours=12))

    rows = await renewed(payer)
    now = await payer.read(Subscription, bought.id)
    assert [str(row["period_start"]) for row in rows] == ["2027-02-28"]
    assert now.status == "ended"


@pytest.mark.rule("BIL-14")
async def test_payment_after_the_period_starts_a_new_one_that_day(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, datetime(2026, 12, 31, 8, tzinfo=UTC))
    bought = await payer.buy("starter")
    await payer.at(local_midnight(date(2027, 1, 30)))
    payer.card = "soft"
    await payer.at(local_midnight(date(2027, 3, 1)))  # the period was 31 January to 28 February
    reduced = await payer.read(Subscription, bought.id)

    payer.card = "ok"
    (failure,) = await payer.rows(
        "SELECT id FROM billing.payment_failure WHERE organization_id = $1"
    )
    work = payer.work()
    await retries.retry_now(work, failure["id"], method_id=None)
    await work.finish()
    await payer.settle()

    now = await payer.read(Subscription, bought.id)
    print(f"period={now.period_start}..{now.period_end} anchor={now.anchor_date}")
    assert (reduced.status, str(reduced.period_end)) == ("suspended", "2027-02-28")
    assert (now.status, str(now.anchor_date)) == ("active", "2027-03-01")
    assert (str(now.period_start), str(now.period_end)) == ("2027-03-01", "2027-04-01")


async def test_without_a_method_a_renewal_has_failed_and_says_so(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, JANUARY)
    bought = await payer.buy("starter")
    work = payer.work()
    await methods.revoke_method(work, payer.method.id)
    await work.finish()
    path = f"/billing/subscriptions/{bought.id}/renewal"

    before = (await api.get(path, headers=await paying.owner_of(host, payer))).json()
    await payer.at(local_midnight(date(2027, 2, 28)))
    after = (await api.get(path, headers=await paying.owner_of(host, payer))).json()

    assert before["blockers"] == ["payment_method_missing"]
    assert (after["state"], after["paymentMethod"]) == ("failed", None)
    assert (await payer.told()).count("PaymentFailed") == 1


async def test_what_is_cancelled_does_not_renew(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, JANUARY)
    bought = await payer.buy("starter")
    headers = await paying.owner_of(host, payer)
    path = f"/billing/subscriptions/{bought.id}"
    await api.post(f"{path}/cancel", json={"reasonCode": "too_expensive"}, headers=headers)

    shown = (await api.get(f"{path}/renewal", headers=headers)).json()
    refused = await api.get(f"{path}/upcoming-invoice", headers=headers)
    await payer.at(local_midnight(date(2027, 2, 28)) + timedelta(minutes=1))

    assert (shown["state"], shown["blockers"]) == ("not_renewing", ["cancelled"])
    assert (shown["lines"], shown["renewsOn"]) == ([], None)
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid-transition")
    assert await renewed(payer) == []
    assert (await payer.read(Subscription, bought.id)).status == "ended"


async def test_a_stranger_finds_no_renewal(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, JANUARY)
    bought = await payer.buy("starter")
    stranger = await paying.payer(host, clock, JANUARY)
    headers = await paying.owner_of(host, stranger)

    found = await api.get(f"/billing/subscriptions/{bought.id}/renewal", headers=headers)
    missing = await api.get(f"/billing/subscriptions/{uuid4()}/renewal", headers=headers)

    assert found.status_code == missing.status_code == 404
    assert found.json()["code"] == missing.json()["code"]
