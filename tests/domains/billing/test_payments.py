"""Payments: what is due, once at a time, by ways that are allowed, however the provider answers."""

import asyncio
from datetime import date
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.billing.paying import (
    RETURN,
    booked,
    owner,
    pay,
    payfast,
    paystack,
    read,
    told,
    until,
    within,
)
from tests.factories import billing, identity, payments
from tests.factories import identity as people
from tests.planting import plant
from tests.providers.loopback import worker
from tests.providers.servers import PaystackServer
from tests.suites import flows
from thenga.domains.billing.tables import (
    Book,
    Payment,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

__all__ = ["owner", "payfast", "paystack"]


@pytest.mark.rule("BIL-30")
async def test_an_invoice_is_paid_on_the_providers_page(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, paystack: PaystackServer
):
    invoice = await payments.invoice(host, owner.organization_id)
    body = {"invoiceId": str(invoice.id), "provider": "paystack", "returnUrl": RETURN}

    made = await pay(api, owner, **body)
    again = await pay(api, owner, **body)
    async with worker(host):
        waits = await until(api, owner, made.json()["id"], "requires_action")
    listed = await api.get("/billing/payments?status=requires_action", headers=within(owner))

    payment = made.json()
    assert (made.status_code, payment["status"]) == (201, "created")
    assert payment["allowedMoves"] == []  # the provider and time move it
    assert made.headers["location"] == f"/v1/billing/payments/{payment['id']}"
    assert payment["amount"] == {"amount": "499.00", "currency": "ZAR"}
    assert len(payment["reference"]) == 16
    assert (again.status_code, again.json()["id"]) == (200, payment["id"])
    assert waits["nextAction"]["kind"] == "redirect"
    assert payment["reference"] in waits["nextAction"]["url"]
    assert [one["id"] for one in listed.json()["items"]] == [payment["id"]]


@pytest.mark.rule("BIL-30")
async def test_a_method_on_file_is_charged_once_and_pays_the_invoice(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, paystack: PaystackServer
):
    card = await payments.method(host, owner.organization_id)
    invoice = await payments.invoice(host, owner.organization_id)

    made = await pay(api, owner, invoiceId=str(invoice.id), paymentMethodId=str(card.id))
    async with worker(host):
        paid = await until(api, owner, made.json()["id"], "succeeded")

    assert (made.status_code, made.json()["status"]) == (201, "processing")
    assert len(paystack.charges) == 1
    assert paid["feeAmount"] == {"amount": "9.98", "currency": "ZAR"}
    assert [one["outcome"] for one in paid["statements"]] == ["applied"]
    assert (await told(host, owner.organization_id)).count("PaymentSucceeded") == 1


@pytest.mark.rule("BIL-30")
async def test_an_invoice_is_charged_once_at_a_time(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    cards = [await payments.method(host, owner.organization_id) for _ in range(2)]
    invoice = await payments.invoice(host, owner.organization_id)
    bodies = [{"invoiceId": str(invoice.id), "paymentMethodId": str(c.id)} for c in cards]

    first = await pay(api, owner, **bodies[0])
    same = await pay(api, owner, **bodies[0])
    other = await pay(api, owner, **bodies[1])

    assert (first.status_code, same.status_code) == (201, 200)
    assert same.json()["id"] == first.json()["id"]
    assert (other.status_code, other.json()["code"]) == (409, "billing-payment-in-progress")
    assert other.json()["paymentId"] == first.json()["id"]


@pytest.mark.rule("BIL-30")
async def test_ten_at_once_are_one_charge(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    card = await payments.method(host, owner.organization_id)
    invoice = await payments.invoice(host, owner.organization_id)
    body = {"invoiceId": str(invoice.id), "paymentMethodId": str(card.id)}

    answers = await asyncio.gather(*(pay(api, owner, **body) for _ in range(10)))

    ids = {one.json()["id"] for one in answers}
    statuses = sorted(one.status_code for one in answers)
    print(f"calls=10 created={statuses.count(201)} charges={len(ids)}")
    assert (statuses, len(ids)) == ([200] * 9 + [201], 1)


async def test_a_planted_second_charge_is_refused_by_the_database(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    monkeypatch: pytest.MonkeyPatch,
):
    from thenga.domains.billing.services.payments import attempts as service

    async def sees_none(*_: Any) -> None:
        return None

    cards = [await payments.method(host, owner.organization_id) for _ in range(2)]
    invoice = await payments.invoice(host, owner.organization_id)
    await pay(api, owner, invoiceId=str(invoice.id), paymentMethodId=str(cards[0].id))
    plant(monkeypatch, service, "payment_in_progress", sees_none)

    other = await pay(api, owner, invoiceId=str(invoice.id), paymentMethodId=str(cards[1].id))

    assert (other.status_code, other.json()["code"]) == (409, "conflict")


@pytest.mark.rule("BIL-33")
async def test_newer_page_supersedes_one_that_may_still_succeed(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await payments.invoice(host, owner.organization_id)
    first = await pay(api, owner, invoiceId=str(invoice.id), provider="paystack")
    second = await pay(api, owner, invoiceId=str(invoice.id), provider="payfast")
    work = billing.working(host, owner.organization_id)
    rows = [await work.get(Payment, UUID(one.json()["id"])) for one in (first, second)]
    await work.close()

    for row in rows:
        await payments.taken(host, row, payments.said(row))

    shown = [await read(api, owner, row.id) for row in rows]
    events = await told(host, owner.organization_id)
    assert (second.status_code, [one["status"] for one in shown]) == (201, ["succeeded"] * 2)
    assert events.count("PaymentSucceeded") == 2
    assert events.count("PaymentMismatchFound") == 1
    assert -(await booked(host, owner.organization_id))["customer_credit"] >= 49900


@pytest.mark.rule("BIL-30")
@pytest.mark.parametrize("provider", ["eft", "paystack"])
async def test_what_asks_for_more_than_is_due_is_not_handed_out_again(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, provider: str
):
    invoice = await payments.invoice(host, owner.organization_id)
    body = {"invoiceId": str(invoice.id), "provider": provider}
    first = (await pay(api, owner, **body)).json()
    work = billing.working(host, owner.organization_id)
    await work.run(
        "UPDATE billing.invoice SET planned_credit_minor = 10000, amount_due_minor = 39900 "
        "WHERE id = $1",
        invoice.id,
    )
    await work.finish()

    second = await pay(api, owner, **body)
    third = await pay(api, owner, **body)
    former = await read(api, owner, first["id"])

    assert (second.status_code, second.json()["amount"]["amount"]) == (201, "399.00")
    assert (third.status_code, third.json()["id"]) == (200, second.json()["id"])
    assert (former["status"], former["nextAction"]) == ("cancelled", None)


@pytest.mark.rule("BIL-30")
async def test_what_is_over_by_time_is_begun_anew_before_any_sweep(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await payments.invoice(host, owner.organization_id)
    body = {"invoiceId": str(invoice.id), "provider": "paystack"}
    first = await pay(api, owner, **body)
    back = billing.working(host, owner.organization_id)
    await back.run("UPDATE billing.payment SET created_at = created_at - interval '1 day'")
    await back.finish()

    second = await pay(api, owner, **body)

    assert second.status_code == 201
    assert second.json()["id"] != first.json()["id"]


@pytest.mark.rule("BIL-29")
async def test_live_and_sandbox_providers_never_mix(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    real = await payments.invoice(host, owner.organization_id)
    player = await people.member(host, uuid4(), role="owner", sandbox=True)
    await billing.account(host, player.organization_id, book=Book.SANDBOX)
    play = await payments.invoice(host, player.organization_id)

    live = await pay(api, owner, invoiceId=str(real.id), provider="sandbox")
    sandbox = await pay(api, player, invoiceId=str(play.id), provider="paystack")
    right = await pay(api, player, invoiceId=str(play.id), provider="sandbox")

    print(f"live with sandbox: {live.status_code} {live.json()['code']}")
    codes = [(one.status_code, one.json()["code"]) for one in (live, sandbox)]
    assert codes == [(422, "billing-provider-not-allowed")] * 2
    assert right.status_code == 201


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"provider": "paystack", "returnUrl": "https://evil.example/x"}, "rule-violated"),
        ({}, "rule-violated"),
        ({"provider": "paystack", "paymentMethodId": str(uuid4())}, "rule-violated"),
        ({"paymentMethodId": str(uuid4())}, "billing-payment-method-required"),
        ({"provider": "stripe"}, "billing-provider-not-allowed"),
    ],
)
async def test_what_cannot_be_paid_so_is_refused(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, body: dict[str, str], code: str
):
    invoice = await payments.invoice(host, owner.organization_id)

    answer = await pay(api, owner, invoiceId=str(invoice.id), **body)

    assert (answer.status_code, answer.json()["code"]) == (422, code)


async def test_a_trial_is_bought_in_one_way(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    both = {"interval": "month", "provider": "paystack", "paymentMethodId": str(uuid4())}

    answer = await api.post(f"/billing/trials/{uuid4()}/convert", json=both, headers=within(owner))

    assert (answer.status_code, answer.json()["rule"]) == (422, "one-way")


async def test_a_parked_account_pays_nothing_by_itself(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    who = await people.member(host, uuid4(), role="owner")
    parked = {"reason": "ledger", "since": "2026-11-14T00:00:00Z"}
    await billing.account(host, who.organization_id, parked=parked)
    invoice = await payments.invoice(host, who.organization_id)

    answer = await pay(api, who, invoiceId=str(invoice.id), provider="paystack")

    assert (answer.status_code, answer.json()["code"]) == (409, "billing-account-parked")


@pytest.mark.rule("BIL-30")
async def test_a_bank_transfer_is_confirmed_once_by_an_operator(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await payments.invoice(host, owner.organization_id)
    made = (await pay(api, owner, invoiceId=str(invoice.id), provider="eft")).json()
    staff = await identity.staff(host, "platform_operator")
    headers = staff.headers | {"X-Organization-Id": str(owner.organization_id)}
    path = f"/billing/payments/{made['id']}/confirm"
    line = {"bankReference": f"FNB-{uuid4()}", "receivedOn": str(date(2026, 11, 14))}
    right = line | {"amount": {"amount": "499.00", "currency": "ZAR"}}
    wrong = line | {"amount": {"amount": "498.00", "currency": "ZAR"}}

    off = await api.post(path, json=wrong, headers=headers)
    done = await api.post(path, json=right, headers=headers)
    again = await api.post(path, json=right, headers=headers)
    other = await api.post(path, json=right | {"bankReference": "other"}, headers=headers)
    more = await payments.invoice(host, owner.organization_id)
    next_one = (await pay(api, owner, invoiceId=str(more.id), provider="eft")).json()
    reused = await api.post(
        f"/billing/payments/{next_one['id']}/confirm", json=right, headers=headers
    )

    assert (made["status"], made["nextAction"]["kind"]) == ("requires_action", "bank_transfer")
    assert {"name": "reference", "value": made["reference"]} in made["nextAction"]["fields"]
    assert (off.status_code, off.json()["rule"]) == (422, "amount-as-due")
    assert (done.status_code, done.json()["status"]) == (200, "succeeded")
    assert (again.status_code, again.json()) == (200, done.json())
    assert other.status_code == 409
    assert (reused.status_code, reused.json()["code"]) == (409, "duplicate")
    assert reused.json()["field"] == "bankReference"
    assert (await booked(host, owner.organization_id))["bank"] == 49900
    assert (await told(host, owner.organization_id)).count("PaymentSucceeded") == 1


async def test_credit_goes_back_the_way_it_came_and_never_more(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, paystack: PaystackServer
):
    spent = await payments.paid(host, owner.organization_id)  # its invoice waits for its number
    made = await payments.paid_twice(host, owner.organization_id)
    staff = await identity.staff(host, "platform_operator")
    headers = staff.headers | {"X-Organization-Id": str(owner.organization_id)}
    path = f"/billing/payments/{made.id}/refunds"

    def asked(amount: str) -> dict[str, Any]:
        return {"amount": {"amount": amount, "currency": "ZAR"}, "reason": "Paid by mistake"}

    much = await api.post(path, json=asked("499.01"), headers=headers)
    begun = await api.post(path, json=asked("100.00"), headers=headers)
    more = await api.post(path, json=asked("399.01"), headers=headers)
    others = path.replace(str(made.id), str(spent.id))
    foreign = await api.post(others, json=asked("399.01"), headers=headers)
    where = begun.headers["location"].removeprefix("/v1")

    async def sent() -> bool:
        found = await api.get(where, headers=within(owner))
        return found.json()["status"] == "succeeded"

    async with worker(host):
        await flows.until(sent)
    payment = await read(api, owner, made.id)

    assert (much.status_code, much.json()["code"]) == (422, "billing-credit-exceeds")
    assert much.json()["left"] == {"amount": "499.00", "currency": "ZAR"}
    assert (begun.status_code, more.status_code, foreign.status_code) == (202, 422, 422)
    assert payment["refundedAmount"] == {"amount": "100.00", "currency": "ZAR"}
    books = await booked(host, owner.organization_id)
    assert books["clearing.paystack"] == 3 * 49900 - 10000
    assert (await told(host, owner.organization_id)).count("RefundSucceeded") == 1


async def test_bank_transfer_cannot_be_refunded_by_a_provider(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    by_bank = await payments.paid_twice(host, owner.organization_id, provider="eft")
    by_card = await payments.paid_twice(host, owner.organization_id)
    staff = await identity.staff(host, "platform_operator")
    headers = staff.headers | {"X-Organization-Id": str(owner.organization_id)}

    async def refund(of: Payment, amount: str) -> httpx2.Response:
        body = {"amount": {"amount": amount, "currency": "ZAR"}, "reason": "Paid by mistake"}
        return await api.post(f"/billing/payments/{of.id}/refunds", json=body, headers=headers)

    bank = await refund(by_bank, "10.00")
    nothing = await refund(by_card, "0.00")
    free = await refund(by_card, "499.00")

    assert (bank.status_code, bank.json()["rule"]) == (422, "refund-by-bank")
    assert (nothing.status_code, nothing.json()["rule"]) == (422, "refund-amount")
    assert free.status_code == 202  # no credit is held back by what was refused


async def test_what_another_organization_paid_is_not_there(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    stranger = await people.member(host, uuid4(), role="owner")
    await billing.account(host, stranger.organization_id)
    theirs = await payments.payment(host, stranger.organization_id)
    invoice = await payments.invoice(host, stranger.organization_id)

    foreign = await api.get(f"/billing/payments/{theirs.id}", headers=within(owner))
    missing = await api.get(f"/billing/payments/{uuid4()}", headers=within(owner))
    paying = await pay(api, owner, invoiceId=str(invoice.id), provider="paystack")

    assert (foreign.status_code, missing.status_code, paying.status_code) == (404, 404, 404)
    assert foreign.json()["detail"] == missing.json()["detail"]


async def test_nothing_due_is_not_paid(api: httpx2.AsyncClient, host: Host, owner: people.Member):
    free = await payments.payment(host, owner.organization_id)
    await payments.taken(host, free, payments.said(free, StatedStatus.FAILED, code="51"))
    invoice = await payments.invoice(host, owner.organization_id, gross=Money.of("10.00"))
    work = billing.working(host, owner.organization_id)
    await work.run(
        "UPDATE billing.invoice SET planned_credit_minor = 1000, amount_due_minor = 0 "
        "WHERE id = $1",
        invoice.id,
    )
    await work.finish()

    answer = await pay(api, owner, invoiceId=str(invoice.id), provider="paystack")

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid-transition")
