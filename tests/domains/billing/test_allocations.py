"""Credit pays invoices: each its own money first, and nothing that is owed stays alone."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.changing import change, credit, preview, rand
from tests.factories import billing, documents, paying
from tests.factories.paying import Payer
from tests.factories.subscriptions import Customer, customer
from thenga.domains.billing.services import invoice_clock, journal, subscription_clock
from thenga.domains.billing.tables import Book, StatedStatus
from thenga.kernel.calendar import local_midnight
from thenga.kernel.host import Host
from thenga.kernel.money import Money

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
        await invoice_clock.pass_time(work, row["id"])
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
    await subscription_clock.pass_time(work, subscription_id)
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
async def test_credit_that_a_waiting_change_counts_on_is_not_given_away(buyer: Customer):
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
    taken = journal.refund("sandbox", Money.of("299.00"))  # at the provider, without our asking
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
    taken = journal.refund("sandbox", Money.of("299.00"))
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
async def test_nothing_is_changed_while_the_period_that_runs_is_being_paid(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-12-14 10:00")
    await buyer.sweep(held["id"])

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
