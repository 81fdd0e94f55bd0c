"""What cannot be billed is parked and waits: no day is given away, and none is billed twice."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import httpx2
import pytest
from structlog.testing import capture_logs

from tests.conftest import Time
from tests.factories import billing, paying
from tests.factories.paying import Payer
from tests.factories.subscriptions import Customer, customer
from tests.providers import cards
from thenga.domains.billing.public import UsageEntry
from thenga.domains.billing.services.accounts import parking
from thenga.domains.billing.services.dunning import retries
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.services.usage import recording
from thenga.domains.billing.tables import (
    CollectionMethod,
    Payment,
    Subscription,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight

ADDRESS = {"line1": "12 Industria Road", "city": "Roodepoort", "postalCode": "1709"}


async def account(buyer: Customer) -> Any:
    (found,) = (await buyer.get("accounts"))["items"]
    return found


async def patch(buyer: Customer, **body: Any) -> Any:
    known = await account(buyer)
    match = buyer.headers | {"If-Match": f'"{known["version"]}"'}
    path = f"/billing/accounts/{known['id']}"
    answer = await buyer.api.patch(path, json=body, headers=match)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def renewed(buyer: Customer | Payer) -> list[tuple[str, str, int]]:
    """The lines of renewals: their days, and what they cost in cents."""
    found = await buyer.rows(
        "SELECT line.service_from, line.service_to, line.gross_minor "
        "FROM billing.invoice_line AS line JOIN billing.invoice ON invoice.id = line.invoice_id "
        "WHERE line.organization_id = $1 AND purpose = 'renewal' AND line.kind = 'recurring' "
        "ORDER BY line.service_from"
    )
    return [(str(row[0]), str(row[1]), row[2]) for row in found]


async def without_address(
    host: Host, api: httpx2.AsyncClient, clock: Time
) -> tuple[Customer, Any, list[Any]]:
    """Professional by the year, to be renewed as starter, without the address that it needs."""
    buyer = await customer(host, api, clock, "2026-11-14 10:00")
    bought = await buyer.buy("enterprise", "year")
    path = f"subscriptions/{bought['id']}"
    assert (await buyer.post(f"{path}/change-plan", planCode="professional")).status_code == 200
    await patch(buyer, billTo={"address": None})
    await buyer.at("2027-11-13 22:00")
    with capture_logs() as logs:
        await buyer.sweep()
    return buyer, bought, [one for one in logs if one["event"] == "billing.account.parked"]


@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-26")
@pytest.mark.rule("BIL-51")
async def test_yearly_renewal_waits_for_the_missing_address(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    buyer, bought, alarms = await without_address(host, api, clock)
    parked, waits = await account(buyer), await buyer.read(bought["id"])
    before = await renewed(buyer)
    await buyer.at("2027-11-20 10:00")
    freed = await patch(buyer, billTo={"address": ADDRESS})
    await buyer.sweep()
    now = await buyer.read(bought["id"])

    print(f"parked={parked['parked']['reason']} alarms={len(alarms)} billed={await renewed(buyer)}")
    assert (parked["parked"]["reason"], len(alarms)) == ("tax_data_missing", 1)
    assert (waits["planCode"], waits["pendingChange"]["status"]) == ("enterprise", "scheduled")
    assert (waits["currentPeriod"]["end"], waits["access"], before) == ("2027-11-14", "full", [])
    assert freed["parked"] is None
    assert await renewed(buyer) == [("2027-11-14", "2028-11-14", 1499000)]
    assert (now["planCode"], now["currentPeriod"]["end"]) == ("professional", "2028-11-14")


@pytest.mark.rule("BIL-51")
async def test_what_does_not_say_where_they_are_frees_nobody(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    buyer, _, _ = await without_address(host, api, clock)

    named = await patch(buyer, billTo={"tradingName": "Mokoena"}, orderNumber="PO 7")

    assert named["parked"]["reason"] == "tax_data_missing"


async def use(host: Host, buyer: Customer, key: str, quantity: int) -> None:
    work = billing.working(host, buyer.id)
    meter = "intelligence.reasoning_runs"
    entry = UsageEntry(meter=meter, key=key, quantity=quantity, occurred_at=work.now)
    await recording.record_usage(work, [entry])
    await work.finish()


@pytest.mark.rule("BIL-23")
@pytest.mark.rule("BIL-26")
async def test_usage_waiting_for_an_address_is_billed_to_its_end(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    named = {"legal_name": "Mokoena Plant Hire (Pty) Ltd"}
    buyer = await customer(host, api, clock, "2026-11-14 10:00", bill_to=named)
    await buyer.buy("enterprise")
    await use(host, buyer, "first", 3010)
    await buyer.at("2026-12-13 22:00")
    await buyer.sweep()
    parked, before = (await account(buyer))["parked"], await renewed(buyer)

    await buyer.at("2026-12-20 10:00")
    await use(host, buyer, "second", 3050)
    await patch(buyer, billTo={"address": ADDRESS})
    await buyer.sweep()

    (made,) = await buyer.rows(
        "SELECT gross_minor FROM billing.invoice WHERE organization_id = $1 AND purpose = 'renewal'"
    )
    print(f"parked={parked} billed={made['gross_minor']}")
    assert (parked["reason"], before) == ("tax_data_missing", [])
    assert await renewed(buyer) == [("2026-12-14", "2027-01-14", 499900)]
    assert made["gross_minor"] == 499900 + 1200


async def try_again(payer: Payer) -> None:
    """Somebody tries the one failed payment again, now."""
    (failure,) = await payer.rows(
        "SELECT id FROM billing.payment_failure WHERE organization_id = $1"
    )
    work = payer.work()
    await retries.retry_now(work, failure["id"], method_id=None)
    await work.finish()


async def behind(host: Host, clock: Time) -> tuple[Payer, Subscription]:
    """Starter, declined on 31 January; on 1 March the period is over and nothing is delivered."""
    payer = await paying.payer(host, clock, datetime(2026, 12, 31, 8, tzinfo=UTC))
    bought = await payer.buy("starter")
    payer.card = "soft"
    await payer.at(local_midnight(date(2027, 3, 1)))
    payer.card = "ok"
    return payer, bought


@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-55")
async def test_days_without_service_pay_for_the_new_period(host: Host, seeded: None, clock: Time):
    payer, _ = await behind(host, clock)
    await try_again(payer)
    await payer.settle()

    notes = await payer.rows("SELECT gross_minor FROM billing.credit_note WHERE organization_id=$1")
    charged = [one.amount_minor for one in payer.charged][-2:]
    owed = await payer.rows(
        "SELECT amount_due_minor FROM billing.invoice WHERE organization_id = $1"
    )
    print(f"credited={[*map(list, notes)]} charged={charged}")
    assert [row["gross_minor"] for row in notes] == [23168]
    assert charged == [49900, 49900 - 23168]
    assert {row["amount_due_minor"] for row in owed} == {0}
    assert "PaymentMismatchFound" not in await payer.told()


@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-33")
@pytest.mark.rule("BIL-51")
async def test_payment_for_a_parked_account_is_booked_at_once(
    host: Host, seeded: None, clock: Time
):
    payer, bought = await behind(host, clock)
    payer.card = "silent"
    await try_again(payer)
    work = payer.work()
    await parking.park(work, reason="too_many_lines")
    await work.finish()

    payer.card = "ok"
    await payer.settle()
    recovered, before = await payer.read(Subscription, bought.id), await renewed(payer)
    await payer.at(local_midnight(date(2027, 3, 3)))
    work = payer.work()
    await parking.unpark(work, reason="too_many_lines")
    await work.finish()
    await payer.settle()

    now = await payer.read(Subscription, bought.id)
    print(f"status={recovered.status} before={before} after={await renewed(payer)}")
    assert (recovered.status, before) == ("active", [("2027-01-31", "2027-02-28", 49900)])
    assert (await renewed(payer))[1:] == [("2027-03-01", "2027-04-01", 49900)]
    assert (now.status, str(now.period_end)) == ("active", "2027-04-01")


@pytest.mark.rule("BIL-14")
async def test_new_period_uses_the_scheduled_plan(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    sent = CollectionMethod.SEND_INVOICE
    begun = datetime(2026, 11, 14, 8, tzinfo=UTC)
    payer = await paying.payer(host, clock, begun, collection_method=sent)
    bought = await payer.buy("professional")
    path = f"/billing/subscriptions/{bought.id}/change-plan"
    headers = await paying.owner_of(host, payer)
    assert (await api.post(path, json={"planCode": "starter"}, headers=headers)).status_code == 200

    await payer.at(local_midnight(date(2026, 12, 16)))
    reduced = await payer.read(Subscription, bought.id)
    await try_again(payer)
    await payer.settle()

    now = await payer.read(Subscription, bought.id)
    print(f"was={reduced.status} plan={now.plan_code} billed={await renewed(payer)}")
    assert (reduced.status, reduced.plan_code) == ("suspended", "professional")
    assert (now.status, now.plan_code, now.pending_change) == ("active", "starter", None)
    assert await renewed(payer) == [("2026-12-16", "2027-01-16", 49900)]


async def leave_provider(payer: Payer) -> None:
    """The card is of a provider that this organization cannot be charged with any more."""
    await payer.rows(
        "UPDATE billing.payment_method SET provider = 'stripe' WHERE organization_id = $1 "
        "RETURNING id"
    )


@pytest.mark.rule("BIL-29")
@pytest.mark.rule("BIL-39")
async def test_a_card_of_a_provider_that_was_taken_out_is_as_no_card(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, datetime(2026, 12, 31, 8, tzinfo=UTC))
    bought = await payer.buy("starter")
    await leave_provider(payer)
    path = f"/billing/subscriptions/{bought.id}/renewal"
    shown = (await api.get(path, headers=await paying.owner_of(host, payer))).json()

    await payer.at(local_midnight(date(2027, 2, 3)))

    now = await payer.read(Subscription, bought.id)
    (failure,) = await payer.rows(
        "SELECT category, attempts FROM billing.payment_failure WHERE organization_id = $1"
    )
    assert (shown["blockers"], shown["paymentMethod"]) == (["payment_method_missing"], None)
    assert (now.status, failure["category"]) == ("past_due", "hard")
    assert (await payer.told()).count("PaymentFailed") == 2  # the first, and the notice of day 1


@pytest.mark.rule("BIL-39")
async def test_recovery_continues_by_notices_without_its_provider(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, datetime(2026, 12, 31, 8, tzinfo=UTC))
    bought = await payer.buy("starter")
    payer.card = "soft"
    await payer.at(local_midnight(date(2027, 1, 31)))
    await leave_provider(payer)

    await payer.at(local_midnight(date(2027, 3, 3)))

    attempts = len(payer.charged)
    assert (attempts, (await payer.read(Subscription, bought.id)).status) == (2, "ended")


async def say(payer: Payer, status: StatedStatus, category: str | None = None) -> None:
    """What the provider says of the newest charge."""
    (charge,) = await payer.rows(
        "SELECT id FROM billing.payment WHERE organization_id = $1 ORDER BY id DESC LIMIT 1"
    )
    work = payer.work()
    payment = await work.get(Payment, charge["id"])
    said = replace(
        cards.statement(payment, category or "ok", work.now), status=status, category=category
    )
    await provider_results.apply_report(work, payment.id, said)
    await work.finish()


async def recovery(payer: Payer) -> tuple[str, str, int]:
    (found,) = await payer.rows(
        "SELECT status, category, attempts FROM billing.payment_failure WHERE organization_id = $1"
    )
    return found["status"], found["category"], len(found["attempts"])


@pytest.mark.rule("BIL-31")
@pytest.mark.rule("BIL-39")
async def test_charge_cancelled_by_the_provider_fails_once(host: Host, seeded: None, clock: Time):
    payer = await paying.payer(host, clock, datetime(2026, 12, 31, 8, tzinfo=UTC))
    bought = await payer.buy("starter")
    payer.card = "silent"
    await payer.at(local_midnight(date(2027, 1, 31)))

    await say(payer, StatedStatus.CANCELLED)
    first = await recovery(payer)
    (invoice,) = await payer.rows(
        "SELECT collection_status FROM billing.invoice "
        "WHERE organization_id = $1 AND purpose = 'renewal'"
    )
    await payer.at(datetime(2027, 2, 1, 6, tzinfo=UTC))
    retrying = await recovery(payer)
    await say(payer, StatedStatus.CANCELLED)
    second = await recovery(payer)
    await say(payer, StatedStatus.FAILED, "hard")
    more = await recovery(payer)

    status = (await payer.read(Subscription, bought.id)).status
    print(f"plan={status} cancelled={first} retry={retrying} cancelled={second} declined={more}")
    assert (status, first, retrying[0]) == ("past_due", ("open", "soft", 1), "retrying")
    assert invoice["collection_status"] == "failed"
    assert (second, more) == (("open", "soft", 2), ("open", "hard", 2))
