"""Payments: never above the invoice, whatever comes at once; a reversal opens it again."""

import asyncio
import time
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from tests.domains.contract.deals import Deal, zar
from tests.factories.contract_money import working
from tests.planting import plant, together
from tests.suites.sizes import size
from thenga.domains.contract.services.invoicing import payments
from thenga.domains.contract.services.invoicing.payments import PaymentExceeds, PaymentGiven
from thenga.domains.contract.tables import Invoice, Payment, PaymentState
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

INVOICES, ATTEMPTS, AT_ONCE = 20, size(check=200, prove=10_000), 16


async def attempt(host: Host, organization_id: UUID, invoice_id: UUID, minor: int) -> bool:
    """One payment in a transaction of its own; whether it was taken."""
    work = working(host, organization_id)
    given = PaymentGiven(Money(minor, "ZAR"), host.now().date(), seen_in_bank=True)
    try:
        await payments.record_payment(work, invoice_id, given)
        await work.finish()
    except PaymentExceeds:
        return False
    finally:
        await work.close()
    return True


async def pay_at_once(e: Deal, invoices: list[Any]) -> tuple[int, float]:
    """Many payments that together are far too much; how many were taken, and how fast."""
    waiting = [
        (UUID(invoices[place * INVOICES // ATTEMPTS]["id"]), 100 + place % 7 * 50)
        for place in range(ATTEMPTS)
    ]
    taken, began = 0, time.perf_counter()

    async def payer() -> None:
        nonlocal taken
        while waiting:
            is_taken = await attempt(e.host, e.id, *waiting.pop())
            taken += is_taken

    await asyncio.gather(*(payer() for _ in range(AT_ONCE)))
    return taken, ATTEMPTS / (time.perf_counter() - began)


async def overpaid(e: Deal) -> int:
    """Invoices on which more was booked than they are worth."""
    async with e.host.engines.connection("contract", "contract_system") as connection:
        found = await connection.fetchval(
            "SELECT count(*) FROM (SELECT i.id FROM contract.invoice i JOIN contract.payment p "
            "ON p.organization_id = i.organization_id AND p.invoice_id = i.id "
            "WHERE i.organization_id = $1 AND p.state = 'confirmed' GROUP BY i.id, i.payable_minor "
            "HAVING sum(p.amount_minor) > i.payable_minor) AS over",
            e.id,
        )
    return int(found)


@pytest.mark.rule("CON-24")
@pytest.mark.rule("CON-27")
async def test_payments_at_once_never_exceed_their_invoices(e: Deal) -> None:
    each = str(max(5, ATTEMPTS // INVOICES // 2))
    invoices = [await e.invoice(M3=f"{each}.00") for _ in range(INVOICES)]

    taken, per_second = await pay_at_once(e, invoices)

    over, journal = await overpaid(e), await e.journal_sum()
    print(f"attempts={ATTEMPTS} taken={taken} over={over} journal={journal} per_s={per_second:.0f}")
    assert 0 < taken < ATTEMPTS
    assert (over, journal) == (0, 0)


@pytest.mark.rule("CON-27")
async def test_a_planted_look_then_insert_is_caught(
    e: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoices = [await e.invoice(M3="5.00") for _ in range(INVOICES)]
    four_looked = together(4)  # the first four payments are of one invoice, and worth more

    async def look_then_insert(work: Work, invoice_id: UUID, given: PaymentGiven) -> Payment:
        invoice = await work.get(Invoice, invoice_id)
        known = await work.all(select(Payment).where(Payment.invoice_id == invoice_id))
        await four_looked()
        if sum(one.amount_minor for one in known) + given.amount.minor > invoice.payable_minor:
            raise PaymentExceeds()
        return await work.add(
            Payment(
                organization_id=invoice.organization_id,
                workspace_id=invoice.workspace_id,
                invoice_id=invoice_id,
                state=PaymentState.CONFIRMED,
                amount_minor=given.amount.minor,
                currency=invoice.currency,
                received_on=given.received_on,
            )
        )

    plant(monkeypatch, payments, "record_payment", look_then_insert)
    await pay_at_once(e, invoices)

    over = await overpaid(e)
    print(f"planted over={over} of {INVOICES}")
    assert over > 0


@pytest.mark.rule("CON-24")
async def test_only_confirmed_money_settles(e: Deal) -> None:
    invoice = await e.receive(await e.invoice(M1="966000.00"))

    recorded = (await e.pay(invoice, "869400.00", seenInBank=False)).json()
    waiting = await e.get(f"/contracts/invoices/{invoice['id']}")
    more, nothing = await e.pay(invoice, "0.01"), await e.pay(invoice, "0.00")
    path = f"/contracts/payments/{recorded['id']}"
    confirmed = await e.patch(path, {"move": {"verb": "confirm"}})
    settled = await e.get(f"/contracts/invoices/{invoice['id']}")

    assert (waiting["claimed"]["amount"], waiting["paid"]["amount"]) == ("869400.00", "0.00")
    assert (more.status_code, more.json()["code"]) == (422, "contract-payment-exceeds")
    assert more.json()["outstanding"] == zar("0.00")
    assert [nothing.json()[name] for name in ("code", "field")] == ["rule-violated", "amount"]
    assert confirmed.json()["state"] == "confirmed"
    assert (settled["status"], settled["paymentStatus"]) == ("settled", "paid")


@pytest.mark.rule("CON-24")
async def test_a_reversal_opens_the_invoice_again(e: Deal) -> None:
    invoice = await e.receive(await e.invoice(M4="100.00"))
    payable = invoice["payable"]["amount"]
    before = await e.balances()
    payment = (await e.pay(invoice, payable)).json()
    settled = await e.get(f"/contracts/invoices/{invoice['id']}")

    path = f"/contracts/payments/{payment['id']}"
    bare = await e.patch(path, {"move": {"verb": "reverse"}})
    reversed_ = await e.patch(path, {"move": {"verb": "reverse", "reason": "Recalled by the bank"}})
    again = await e.get(f"/contracts/invoices/{invoice['id']}")

    print(f"settled={settled['status']} reversed={again['status']} due={again['dueOn']}")
    assert settled["status"] == "settled"
    assert (bare.status_code, reversed_.status_code) == (422, 200)
    assert (again["status"], again["outstanding"]["amount"]) == ("received", payable)
    assert again["dueOn"] == invoice["dueOn"]
    assert await e.balances() == before
    changes = [one["change"] for one in await e.told("InvoiceChanged")]
    assert changes == ["received", "settled", "reopened"]
    (told,) = await e.told("PaymentReversed")
    assert told["outstanding"] == zar(payable)


@pytest.mark.rule("CON-24")
async def test_a_bank_reference_counts_once_on_an_invoice(e: Deal) -> None:
    invoice = await e.invoice(M1="1000.00")

    first = await e.pay(invoice, "10.00", bankReference="EMFULENI LM 4711")
    second = await e.pay(invoice, "10.00", bankReference="EMFULENI LM 4711")

    assert (first.status_code, second.status_code) == (201, 409)
    assert second.json()["code"] == "duplicate"
    assert second.json()["existing"] == {"id": first.json()["id"]}


async def test_a_discarded_invoice_takes_no_payment(e: Deal) -> None:
    draft = (await e.draft(e.lines(M1="1000.00"))).json()

    early = await e.pay(draft, "10.00")
    await e.move(draft, "discard")
    late = await e.pay(draft, "10.00")

    assert [one.json()["code"] for one in (early, late)] == ["conflict", "conflict"]
    assert early.json()["detail"] == "Submit the invoice before you record a payment on it."
    assert late.json()["detail"] == (
        "This invoice was discarded. Record the payment on another invoice."
    )


@pytest.mark.rule("CON-24")
@pytest.mark.parametrize(("verb", "counted"), [("credit", "credited"), ("write_off", "writtenOff")])
async def test_unconfirmed_payments_are_not_credited_or_written_off(
    e: Deal, verb: str, counted: str
) -> None:
    invoice = await e.receive(await e.invoice(M3="1000.00"))
    payment = (await e.pay(invoice, "300.00", seenInBank=False)).json()

    above = await e.move(invoice, verb, reason="Remeasured", amount=zar("600.01"))
    rest = (await e.move(invoice, verb, reason="Remeasured")).json()
    covered = await e.move(invoice, verb, reason="Remeasured")
    await e.patch(f"/contracts/payments/{payment['id']}", {"move": {"verb": "withdraw"}})
    last = (await e.move(invoice, verb, reason="Remeasured")).json()

    assert (above.status_code, above.json()["field"]) == (422, "/move/amount")
    assert "ZAR 300.00 are not confirmed" in above.json()["detail"]
    assert (rest[counted], rest["outstanding"]) == (zar("600.00"), zar("300.00"))
    assert (covered.status_code, covered.json()["code"]) == (409, "conflict")
    assert "Confirm or withdraw them first." in covered.json()["detail"]
    assert (last[counted], last["outstanding"]) == (zar("900.00"), zar("0.00"))
