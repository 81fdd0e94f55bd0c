"""Credit pays invoices: each its own money first, and nothing that is owed stays alone."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.changing import (
    change,
    covered_twice,
    credit,
    paid_change,
    preview,
    rand,
)
from tests.domains.billing.paying import booked
from tests.factories import billing, documents, paying
from tests.factories.paying import Payer
from tests.factories.subscriptions import Customer, customer
from thenga.domains.billing.services.dunning import invoice_clock, write_offs
from thenga.domains.billing.services.invoicing import credit_notes
from thenga.domains.billing.services.ledger import journal
from thenga.domains.billing.services.subscriptions import clock as subscription_clock
from thenga.domains.billing.tables import (
    Book,
    CreditReason,
    Invoice,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.money import Money

pytestmark = pytest.mark.no_retry

NOVEMBER = datetime(2026, 11, 14, 8, tzinfo=UTC)
# What is owed, charged by itself, and looked after by nobody; there must be none.
_ALONE = """
    SELECT i.number, i.amount_due_minor FROM billing.invoice i
    JOIN billing.account a ON a.organization_id = i.organization_id
    WHERE i.organization_id = $1 AND i.status = 'open' AND i.amount_due_minor > 0
        AND a.collection_method = 'automatic'
        AND NOT EXISTS (SELECT FROM billing.payment p WHERE p.invoice_id = i.id
            AND p.organization_id = i.organization_id
            AND p.status IN ('created', 'requires_action', 'processing'))
        AND NOT EXISTS (SELECT FROM billing.payment_failure f WHERE f.invoice_id = i.id
            AND f.organization_id = i.organization_id
            AND f.status IN ('open', 'retrying', 'exhausted'))
"""


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


async def look(buyer: Customer) -> None:
    """What the worker's job does for the invoices whose check is due."""
    due = await buyer.rows(
        "SELECT id FROM billing.invoice WHERE organization_id = $1 AND next_check_at <= $2",
        buyer.host.now(),
    )
    for row in due:
        work = billing.working(buyer.host, buyer.id)
        await invoice_clock.run_due_invoice_steps(work, row["id"])
        await work.finish()


async def charges(buyer: Customer) -> list[tuple[int, str]]:
    found = await buyer.rows(
        "SELECT amount_minor, status FROM billing.payment WHERE organization_id = $1 ORDER BY id"
    )
    return [(row["amount_minor"], row["status"]) for row in found]


async def waiting_change(buyer: Customer) -> tuple[Any, str]:
    """Starter, 500.00 of credit, and professional asked for on 24 November."""
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    await documents.pay(buyer.host, buyer.id, "500.00", book=Book.SANDBOX)
    asked = (await change(buyer, held, planCode="professional")).json()["pendingChange"]
    assert asked["amountDue"] == rand("166.66")
    return held, asked["paymentId"]


async def renew(payer: Payer, subscription_id: UUID) -> UUID:
    """Bill the next period; the payment that was begun for it."""
    work = payer.work()
    await subscription_clock.run_due_steps(work, subscription_id)
    await work.finish()
    (row,) = await payer.rows(
        "SELECT id FROM billing.payment WHERE organization_id = $1 AND status = 'processing' "
        "ORDER BY id DESC LIMIT 1"
    )
    return UUID(str(row["id"]))


@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-33")
async def test_money_that_came_for_one_invoice_never_pays_another(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, NOVEMBER)
    base, boost = await payer.buy("professional"), await payer.buy("ai-boost")
    clock.set(local_midnight(date(2026, 12, 14)))
    charges = [await renew(payer, one.id) for one in (base, boost)]

    await payer.answer(charges[0], "soft")
    await payer.answer(charges[1], "ok")
    await payer.settle()

    found = await payer.rows(
        "SELECT gross_minor, amount_due_minor, status FROM billing.invoice "
        "WHERE organization_id = $1 AND purpose = 'renewal' ORDER BY number"
    )
    print([dict(row) for row in found])
    assert [tuple(row) for row in found] == [(149900, 149900, "open"), (29900, 0, "paid")]


@pytest.mark.rule("BIL-11")
@pytest.mark.rule("BIL-14")
async def test_credit_reserved_by_a_pending_change_is_not_spent(buyer: Customer):
    _, payment_id = await waiting_change(buyer)

    boost = await buyer.start("ai-boost")
    await buyer.pay(payment_id)
    await buyer.pay(boost["payment"]["id"])

    print(f"charges={await charges(buyer)} credit={await credit(buyer)}")
    assert [one for one, _ in await charges(buyer)] == [49900, 16666, 29900]
    assert await credit(buyer) == "0.00"
    assert await buyer.rows(_ALONE) == []


@pytest.mark.rule("BIL-14")
@pytest.mark.parametrize("answer", [StatedStatus.SUCCEEDED, StatedStatus.FAILED])
async def test_a_rest_that_nobody_collects_is_charged(buyer: Customer, answer: StatedStatus):
    held, payment_id = await waiting_change(buyer)
    taken = journal.refund_booking(
        "sandbox", Money.of("299.00")
    )  # at the provider, without our asking
    await billing.entry(buyer.host, buyer.id, taken, book=Book.SANDBOX)

    await buyer.pay(payment_id)
    alone = [row["amount_due_minor"] for row in await buyer.rows(_ALONE)]
    await look(buyer)

    (rest,) = await buyer.rows(
        "SELECT id, amount_minor FROM billing.payment "
        "WHERE organization_id = $1 AND status = 'processing'"
    )
    assert (alone, rest["amount_minor"]) == ([29900], 29900)
    assert await buyer.rows(_ALONE) == []
    await buyer.pay(str(rest["id"]), answer)
    await look(buyer)
    assert await buyer.rows(_ALONE) == []
    due = await buyer.rows(
        "SELECT sum(amount_due_minor) AS due FROM billing.invoice WHERE organization_id = $1"
    )
    paid = answer is StatedStatus.SUCCEEDED
    standing = (await buyer.read(held["id"]))["status"]
    assert (due[0]["due"], standing) == ((0, "active") if paid else (29900, "past_due"))


@pytest.mark.rule("BIL-14")
async def test_a_rest_without_a_way_to_pay_begins_its_recovery(buyer: Customer):
    _, payment_id = await waiting_change(buyer)
    taken = journal.refund_booking("sandbox", Money.of("299.00"))
    await billing.entry(buyer.host, buyer.id, taken, book=Book.SANDBOX)
    await buyer.pay(payment_id)
    await buyer.rows(
        "UPDATE billing.payment_method SET status = 'revoked' "
        "WHERE organization_id = $1 RETURNING id"
    )

    await look(buyer)

    found = await buyer.rows(
        "SELECT category, status FROM billing.payment_failure WHERE organization_id = $1"
    )
    assert [tuple(row) for row in found] == [("hard", "open")]
    assert await buyer.rows(_ALONE) == []


@pytest.mark.rule("BIL-11")
async def test_plan_cannot_change_while_its_period_is_being_paid(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-12-14 10:00")
    await buyer.sweep()

    asked = await change(buyer, held, planCode="professional")
    shown = await buyer.post(
        f"subscriptions/{held['id']}/change-plan/preview", planCode="professional"
    )
    (charged,) = await buyer.rows(
        "SELECT id FROM billing.payment WHERE organization_id = $1 AND status = 'processing'"
    )
    await buyer.pay(str(charged["id"]))

    codes = [(one.status_code, one.json()["code"]) for one in (asked, shown)]
    assert codes == [(409, "billing-payment-in-progress")] * 2
    assert asked.json()["paymentId"] == str(charged["id"])
    assert (await preview(buyer, held, planCode="professional"))["amountDue"] == rand("1000.00")
    assert await buyer.rows(_ALONE) == []


# --- what an operator gave back before -----------------------------------------------------------


async def first_invoice(buyer: Customer) -> Invoice:
    (row,) = await buyer.rows(
        "SELECT id FROM billing.invoice WHERE organization_id = $1 AND purpose = 'first'"
    )
    return await documents.get(buyer.host, Invoice, buyer.id, row["id"])


@pytest.mark.rule("BIL-10")
@pytest.mark.rule("BIL-48")
async def test_a_plan_whose_days_were_given_back_wholly_can_be_changed(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    await documents.credited(buyer.host, await first_invoice(buyer), "499.00")

    shown = await paid_change(buyer, held, planCode="professional")

    now = await buyer.read(held["id"])
    print(f"due={shown['amountDue']['amount']} charges={await charges(buyer)}")
    assert (shown["creditNote"], shown["amountDue"]) == (None, rand("500.33"))
    assert (now["planCode"], now["pendingChange"]) == ("professional", None)
    assert (await covered_twice(buyer), await credit(buyer)) == (0, "0.00")
    assert await buyer.rows(_ALONE) == []


@pytest.mark.rule("BIL-10")
@pytest.mark.rule("BIL-33")
async def test_a_change_gives_back_no_more_than_an_operator_has_left(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    asked = (await change(buyer, held, planCode="professional")).json()["pendingChange"]
    await documents.credited(buyer.host, await first_invoice(buyer), "300.00")

    await buyer.pay(asked["paymentId"])

    notes = await buyer.rows(
        "SELECT gross_minor FROM billing.credit_note WHERE organization_id = $1 ORDER BY number"
    )
    assert asked["amountDue"] == rand("666.66")
    assert [row["gross_minor"] for row in notes] == [30000, 19900]
    assert (await buyer.read(held["id"]))["planCode"] == "professional"
    assert (await credit(buyer), await covered_twice(buyer)) == ("166.33", 0)
    assert await buyer.rows(_ALONE) == []


@pytest.mark.rule("BIL-27")
@pytest.mark.parametrize(
    ("given", "left", "status"), [("100.00", 39900, "uncollectible"), ("499.00", 0, "credited")]
)
async def test_a_note_on_what_was_written_off_gives_no_credit(
    host: Host, seeded: None, given: str, left: int, status: str
):
    invoice = await documents.issued(host, uuid4())
    (line,) = await documents.lines(host, invoice)
    work = billing.working(host, invoice.organization_id)
    await credit_notes.issue_credit_note(
        work,
        invoice.id,
        credited=[(line.id, Money.of(given))],
        reason_code=CreditReason.GOODWILL,
        explanation="As agreed on the telephone",
    )
    await work.finish()
    work = billing.working(host, invoice.organization_id)
    await write_offs.write_off(work, invoice.id, reason="Nobody answers")
    await work.finish()

    await documents.number_all(host, invoice.organization_id)

    now = await documents.get(host, Invoice, invoice.organization_id, invoice.id)
    sums = await booked(host, invoice.organization_id)
    print(f"due={now.amount_due_minor} {sums}")
    assert (now.amount_due_minor, now.status) == (left, status)
    assert (sums.get("bad_debt", 0), sums.get("customer_credit", 0)) == (left, 0)
    assert "receivable" not in sums
