"""Calls of payments, ways to pay, refunds and callbacks."""

import json
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

from tests.factories import billing, identity, payments
from tests.factories.identity import Person
from tests.providers import signing
from tests.suites.calls.sending import Maker, Sent, filled
from thenga.domains.billing.services.settlement import webhooks
from thenga.domains.billing.services.settlement.webhooks import Received
from thenga.domains.billing.tables import Book
from thenga.kernel.process.host import Host

RAND = {"amount": "1.00", "currency": "ZAR"}
Before = Callable[[Host, UUID], Awaitable[dict[str, UUID]]]


def _named(organization_id: UUID) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)}


async def _staff(host: Host) -> dict[str, str]:
    return (await identity.staff(host, "platform_operator")).headers


async def _account(host: Host, organization_id: UUID) -> dict[str, UUID]:
    made = await billing.account(host, organization_id, again=True, book=Book.SANDBOX)
    return {"accountId": made.id}


async def _payment(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await _account(host, organization_id)
    made = await payments.payment(host, organization_id, provider="sandbox")
    return {"paymentId": made.id}


async def _transfer(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await _account(host, organization_id)
    made = await payments.payment(host, organization_id, provider="eft")
    return {"paymentId": made.id}


async def _paid_twice(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await _account(host, organization_id)
    made = await payments.paid_twice(host, organization_id, provider="sandbox")
    return {"paymentId": made.id}


async def _refund(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await _account(host, organization_id)
    return {"refundId": (await payments.refund(host, organization_id)).id}


async def _method(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await _account(host, organization_id)
    return {"methodId": (await payments.method(host, organization_id, provider="sandbox")).id}


async def _methods(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await payments.method(host, organization_id, provider="sandbox")
    return await _account(host, organization_id)


async def _second_method(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await _method(host, organization_id)
    return await _method(host, organization_id)


def _in(before: Before, given: dict[str, Any] | None = None) -> Maker:
    """In an organization that the header names."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        ids = await before(host, organization_id)
        body = given and filled(given)
        return Sent(ids, lambda _: body, _named(organization_id))

    return make


async def _paying(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _account(host, organization_id)
    invoice = await payments.invoice(host, organization_id)

    def body(ids: Any) -> dict[str, Any]:
        return {"invoiceId": str(ids["invoiceId"]), "provider": "sandbox"}

    return Sent({"invoiceId": invoice.id}, body, _named(organization_id))


async def _listing(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _payment(host, organization_id)
    return Sent(headers=_named(organization_id))


def _by_staff(before: Before, given: dict[str, Any]) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        ids = await before(host, organization_id)
        body = filled(given)
        headers = await _staff(host) | _named(organization_id)
        return Sent(ids, lambda _: body, headers, by_staff=True)

    return make


async def _calling(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = signing.paystack("subscription.create", {"id": uuid4().int % 10**15})
    body = json.loads(made.body)
    return Sent({}, lambda _: body, dict(made.headers[:1]), parts={"provider": "paystack"})


def _on_callback(*, named: bool) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        work = billing.working(host)
        content = signing.paystack("subscription.create", {"id": uuid4().int % 10**15}).body
        told = Received("paystack", f"swept:{uuid4()}", "subscription.create", "current", content)
        await webhooks.receive_callback(work, told)
        await work.finish()
        read = billing.working(host)
        found = await read.find(webhooks.ProviderCallback, event_key=told.event_key)
        await read.close()
        assert found is not None
        ids = {"callbackId": found.id} if named else {}
        return Sent(ids, headers=await _staff(host), by_staff=True)

    return make


CONFIRMED = {
    "bankReference": "FNB *",
    "receivedOn": "2026-11-14",
    "amount": {"amount": payments.STARTER.amount, "currency": "ZAR"},
}

RETURN = "https://app.thenga.example/billing/paid?*"
MAKERS: dict[str, Maker] = {
    "pay_invoice": _paying,
    "list_payments": _listing,
    "get_payment": _in(_payment),
    "confirm_payment": _by_staff(_transfer, CONFIRMED),
    "add_payment_method": _in(_account, {"provider": "sandbox", "returnUrl": RETURN}),
    "list_payment_methods": _in(_methods),
    "make_default_payment_method": _in(_second_method),
    "remove_payment_method": _in(_method),
    "refund_payment": _by_staff(
        _paid_twice, {"amount": RAND, "reason": "Asked for in case */2026"}
    ),
    "get_refund": _in(_refund),
    "receive_callback": _calling,
    "list_callbacks": _on_callback(named=False),
    "get_callback": _on_callback(named=True),
    "replay_callback": _on_callback(named=True),
}
