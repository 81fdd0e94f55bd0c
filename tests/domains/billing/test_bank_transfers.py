"""Plans that are paid by bank transfer, which takes days."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import billing, identity, subscriptions
from tests.factories.subscriptions import BILL_TO, Customer, instant
from tests.letters import written
from tests.planting import plant
from thenga.domains.billing.services.customer import notices
from thenga.domains.billing.services.payments import attempts
from thenga.domains.billing.services.subscriptions import letters
from thenga.domains.billing.services.trials import trials
from thenga.domains.billing.tables import Account, Subscription
from thenga.domains.billing.values.provider import StatedStatus
from thenga.kernel.process.host import Host


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    made = Customer(host, api, clock)
    await made.at("2026-11-02 10:00")
    await billing.account(host, made.id, bill_to=BILL_TO)
    return made


async def subscribe(buyer: Customer) -> Any:
    answer = await buyer.post("subscriptions", planCode="starter", interval="month", provider="eft")
    assert answer.status_code == 201, answer.text
    return answer.json()


async def confirm(buyer: Customer, payment: Any, *, on: str) -> None:
    """Staff confirm that the transfer arrived, and the documents get their numbers."""
    staff = await identity.staff(buyer.host, "platform_operator")
    answer = await buyer.api.post(
        f"/billing/payments/{payment['id']}/confirm",
        json={"bankReference": f"FNB {uuid4()}", "receivedOn": on, "amount": payment["amount"]},
        headers=staff.headers | {"X-Organization-Id": str(buyer.id)},
    )
    assert (answer.status_code, answer.json()["status"]) == (200, "succeeded"), answer.text
    await buyer.number()


async def receipt(buyer: Customer, payment: Any) -> str:
    return await letter_of(buyer, notices.RECEIPT, payment["id"])


async def letter_of(buyer: Customer, topic: str, about: str) -> str:
    work = billing.working(buyer.host, buyer.id)
    account = await work.lock_by(Account)
    account.invoice_emails = ["books@mokoena.example"]
    await work.save(account)
    letter = await letters.compose_letter(work, topic, UUID(about))
    await work.finish()
    assert letter is not None
    return written(letter.topic, letter.facts).text


@pytest.mark.rule("BIL-15")
async def test_a_transfer_that_takes_three_days_buys_the_plan(buyer: Customer):
    bought = await subscribe(buyer)

    await buyer.at("2026-11-05 10:00")
    await buyer.sweep()
    waits = await buyer.read(bought["id"])
    await confirm(buyer, bought["payment"], on="2026-11-04")

    begun = await buyer.read(bought["id"])
    invoice = await buyer.get(f"invoices/{bought['invoiceId']}")
    print(f"number={invoice['number']} period={begun['currentPeriod']['start']}")
    assert (waits["status"], begun["status"], begun["access"]) == ("incomplete", "active", "full")
    assert invoice["number"] is not None
    assert invoice["status"] == "paid"
    # It is delivered from the day on which it is paid, and billed for the same days.
    assert begun["currentPeriod"]["start"] == "2026-11-05"
    assert begun["currentPeriod"]["end"] == "2026-12-05"
    assert "The paid invoice is under Billing" in await receipt(buyer, bought["payment"])


@pytest.mark.rule("BIL-15")
async def test_without_money_it_expires_after_14_days(buyer: Customer):
    bought = await subscribe(buyer)

    await buyer.at("2026-11-16 09:59")
    await buyer.sweep()
    waits = await buyer.read(bought["id"])
    await buyer.at("2026-11-17 10:00")
    before_sweep = await buyer.read(bought["id"])
    await buyer.sweep()
    swept = await buyer.read(bought["id"])
    await confirm(buyer, bought["payment"], on="2026-11-17")

    letter = await receipt(buyer, bought["payment"])
    account = (await buyer.get("accounts"))["items"][0]
    assert waits["status"] == "incomplete"
    assert before_sweep["status"] == swept["status"] == "incomplete_expired"
    assert account["creditBalance"]["amount"] == "499.00"
    assert "nothing was bought" in letter
    assert "The paid invoice" not in letter


async def test_a_card_page_opened_later_does_not_end_the_wait(buyer: Customer):
    bought = await subscribe(buyer)
    answer = await buyer.post("payments", invoiceId=bought["invoiceId"], provider="paystack")
    assert answer.status_code == 201, answer.text

    await buyer.at("2026-11-05 10:00")
    await buyer.sweep()
    await confirm(buyer, bought["payment"], on="2026-11-04")

    assert (await buyer.read(bought["id"]))["status"] == "active"


async def test_a_plan_change_waits_for_a_transfer(buyer: Customer):
    bought = await subscribe(buyer)
    await confirm(buyer, bought["payment"], on="2026-11-02")
    await subscriptions.method(buyer.host, buyer.id, "paystack")
    answer = await buyer.post(f"subscriptions/{bought['id']}/change-plan", planCode="professional")
    pending = answer.json()["pendingChange"]
    await buyer.pay(pending["paymentId"], StatedStatus.FAILED)
    made = await buyer.post("payments", invoiceId=pending["invoiceId"], provider="eft")
    assert made.status_code == 201, made.text

    await buyer.at("2026-11-05 10:00")
    await buyer.sweep()
    waits = (await buyer.read(bought["id"]))["pendingChange"]
    await confirm(buyer, made.json(), on="2026-11-05")

    changed = await buyer.read(bought["id"])
    assert waits["expiresAt"] == "2026-11-16T10:00:00Z"
    assert (changed["planCode"], changed["pendingChange"]) == ("professional", None)
    invoice = await buyer.get(f"invoices/{pending['invoiceId']}")
    assert invoice["number"] is not None


@pytest.mark.rule("BIL-18")
async def test_a_trial_waits_for_the_transfer_that_converts_it(buyer: Customer):
    trial = await _convert(buyer)
    await buyer.at("2026-11-18 10:00")  # the trial ended at the midnight of 16 November
    await buyer.sweep()
    await confirm(buyer, trial["payment"], on="2026-11-18")

    begun = (await buyer.get("subscriptions"))["items"][0]
    assert (begun["status"], begun["access"]) == ("active", "full")


async def test_a_purchase_replaces_a_conversion_that_waits(buyer: Customer):
    trial = await _convert(buyer)
    await buyer.at("2026-11-18 10:00")
    await buyer.sweep()

    bought = await subscribe(buyer)
    await confirm(buyer, bought["payment"], on="2026-11-18")

    statuses = {held["id"]: held["status"] for held in (await buyer.get("subscriptions"))["items"]}
    assert statuses == {trial["subscriptionId"]: "ended", bought["id"]: "active"}


async def _convert(buyer: Customer) -> Any:
    work = billing.working(buyer.host, buyer.id)
    trial = await trials.start_trial(work, plan_code="professional")
    await work.finish()
    await buyer.at("2026-11-15 10:00")
    answer = await buyer.post(f"trials/{trial.id}/convert", interval="month", provider="eft")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def _renew(buyer: Customer) -> Any:
    """Paid by transfer and renewed on 14 November, within the days that live documents may have."""
    bought = await subscribe(buyer)
    await confirm(buyer, bought["payment"], on="2026-11-02")
    work = billing.working(buyer.host, buyer.id)
    held = await work.lock(Subscription, UUID(bought["id"]))
    held.anchor_date, held.period_end = date(2026, 10, 14), date(2026, 11, 14)
    held.next_check_at = instant("2026-11-13 22:00")
    await work.save(held)
    await work.run(
        "UPDATE billing.billed_span SET ends_on = '2026-11-14' WHERE subscription_id = $1", held.id
    )
    await work.finish()
    await buyer.at("2026-11-13 22:00")
    await buyer.sweep()
    return bought


@pytest.mark.rule("BIL-39")
async def test_a_renewal_without_a_card_is_a_sent_invoice(buyer: Customer):
    bought = await _renew(buyer)

    renewed = await buyer.read(bought["id"])
    invoices = (await buyer.get("invoices?status=open"))["items"]
    events = await buyer.told()
    assert (renewed["status"], renewed["access"]) == ("active", "full")
    (invoice,) = invoices
    issued, due = (date.fromisoformat(invoice[name]) for name in ("issueDate", "dueDate"))
    assert (due - issued, invoice["amountDue"]["amount"]) == (timedelta(days=7), "499.00")
    assert "PaymentFailed" not in events
    assert "InvoiceIssued" in events
    letter = await letter_of(buyer, notices.INVOICE_ISSUED, invoice["id"])
    assert invoice["number"] in letter


@pytest.mark.rule("BIL-39")
async def test_a_sent_renewal_is_overdue_after_its_due_date(buyer: Customer):
    bought = await _renew(buyer)

    (invoice,) = (await buyer.get("invoices?status=open"))["items"]
    await buyer.at(f"{invoice['dueDate']} 21:59")
    await buyer.sweep()
    on_time = (await buyer.read(bought["id"]))["status"]
    await buyer.at(f"{invoice['dueDate']} 22:00")
    await buyer.sweep()

    assert on_time == "active"
    assert (await buyer.read(bought["id"]))["status"] == "past_due"


async def test_a_renewal_with_a_card_is_charged(buyer: Customer):
    card = await subscriptions.method(buyer.host, buyer.id, "paystack")

    await _renew(buyer)

    charges = await buyer.rows(
        "SELECT payment_method_id FROM billing.payment WHERE organization_id = $1 "
        "AND initiated_by = 'system'"
    )
    assert [charge["payment_method_id"] for charge in charges] == [card.id]


async def test_planted_wait_for_charges_alone_is_found(
    buyer: Customer, monkeypatch: pytest.MonkeyPatch
):
    async def none(*_: Any) -> None:
        return None

    bought = await subscribe(buyer)
    plant(monkeypatch, attempts, "transfer_awaited_until", none)

    await buyer.at("2026-11-05 10:00")

    assert (await buyer.read(bought["id"]))["status"] != "incomplete"
