"""Ways to pay: one is charged, its last day is told once, and what was taken away is forgotten."""

from datetime import timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.billing.paying import owner, told, within
from tests.factories import billing, payments, subscriptions
from tests.factories import identity as people
from thenga.domains.billing.services.payments import methods
from thenga.domains.billing.tables import (
    MethodStatus,
    PaymentMethod,
    PlanKind,
    SubscriptionStatus,
)
from thenga.domains.billing.values.provider import (
    MethodToken,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day, local_midnight

__all__ = ["owner"]


async def running_out(host: Host, organization_id: UUID, days: int) -> PaymentMethod:
    """A card on file whose last day is so many days from now."""
    card = await payments.method(host, organization_id)
    work = billing.working(host, organization_id)
    held = await work.lock(PaymentMethod, card.id)
    held.expires_on = local_day(work.now) + timedelta(days=days)
    held.next_check_at = local_midnight(held.expires_on) - timedelta(days=30)
    await work.save(held)
    await work.finish()
    return held


@pytest.mark.rule("BIL-40")
async def test_card_expiry_is_announced_once_and_then_applied(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    card = await running_out(host, owner.organization_id, 40)

    async def after(days: int) -> MethodStatus:
        for _ in range(2):  # a second run finds nothing to do
            ahead = timedelta(days=days)
            work = billing.working(host, owner.organization_id, ahead=ahead)
            await methods.run_due_method_steps(work, card.id)
            await work.finish()
        read = billing.working(host, owner.organization_id)
        found = await read.get(PaymentMethod, card.id)
        await read.close()
        return found.status

    steps = []
    for days in (5, 12, 39, 40, 42):
        state = await after(days)
        events = await told(host, owner.organization_id)
        steps.append((days, state.value, events.count("PaymentMethodExpiring")))

    print(f"steps={steps}")
    assert steps == [
        *((5, "active", 0), (12, "active", 1), (39, "active", 1)),
        *((40, "active", 1), (42, "expired", 1)),
    ]


@pytest.mark.rule("BIL-40")
async def test_expiring_card_of_one_plan_is_announced_when_used(host: Host, owner: people.Member):
    await payments.method(host, owner.organization_id)  # the account's own, good for ever
    card = await running_out(host, owner.organization_id, 40)

    async def told_after(days: int) -> int:
        ahead = timedelta(days=days)
        work = billing.working(host, owner.organization_id, ahead=ahead)
        await methods.run_due_method_steps(work, card.id)
        await work.finish()
        return (await told(host, owner.organization_id)).count("PaymentMethodExpiring")

    unused = [await told_after(days) for days in (12, 14)]
    active = {"kind": PlanKind.BASE, "status": SubscriptionStatus.ACTIVE}
    await subscriptions.subscription(
        host, owner.organization_id, payment_method_id=card.id, **active
    )
    used = [await told_after(days) for days in (15, 16, 39)]

    assert (card.preferred, unused, used) == (False, [0, 0], [1, 1, 1])


async def test_expired_card_is_not_charged_even_before_a_sweep(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    card = await running_out(host, owner.organization_id, -1)
    invoice = await payments.invoice(host, owner.organization_id)
    body = {"invoiceId": str(invoice.id), "paymentMethodId": str(card.id)}

    listed = await api.get(
        f"/billing/accounts/{card.account_id}/payment-methods", headers=within(owner)
    )
    paid = await api.post("/billing/payments", json=body, headers=within(owner))
    second = await running_out(host, owner.organization_id, -1)
    path = f"/billing/payment-methods/{second.id}/make-default"
    preferred = await api.post(path, headers=within(owner))

    assert [one["status"] for one in listed.json()["items"]] == ["expired"]
    assert (paid.status_code, paid.json()["code"]) == (422, "billing-payment-method-required")
    assert preferred.json()["code"] == "invalid-transition"


async def test_removed_method_is_forgotten_and_repeat_does_nothing(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    card = await payments.method(host, owner.organization_id)
    path = f"/billing/payment-methods/{card.id}"

    first = await api.delete(path, headers=within(owner))
    again = await api.delete(path, headers=within(owner))
    missing = await api.delete(f"/billing/payment-methods/{uuid4()}", headers=within(owner))

    async with host.engines.connection("billing", "billing_system") as connection:
        row = await connection.fetchrow(
            "SELECT status, sealed_token, version FROM billing.payment_method WHERE id = $1",
            card.id,
        )
    assert (first.status_code, again.status_code, missing.status_code) == (204, 204, 404)
    assert (row["status"], row["sealed_token"], row["version"]) == ("revoked", b"", 2)


@pytest.mark.rule("BIL-42")
async def test_revoked_card_returns_only_with_a_later_payment(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    token = MethodToken("AUTH_comes_back", brand="visa", last4="4081")
    before = await payments.payment(host, owner.organization_id)
    said = payments.said(before, token=token)
    card_id = (await payments.taken(host, before, said)).payment.payment_method_id
    await api.delete(f"/billing/payment-methods/{card_id}", headers=within(owner))

    async def kept() -> PaymentMethod:
        work = billing.working(host, owner.organization_id)
        try:
            return await work.get(PaymentMethod, card_id)
        finally:
            await work.close()

    await payments.taken(host, before, said)
    repeated = await kept()
    after = await payments.payment(host, owner.organization_id)
    again = await payments.taken(host, after, payments.said(after, token=token))

    method = await kept()
    assert (repeated.status, repeated.sealed_token) == ("revoked", b"")
    assert again.payment.payment_method_id == card_id
    assert (method.status, method.preferred) == ("active", True)
    assert methods.token_of(host, method) == "AUTH_comes_back"


@pytest.mark.rule("BIL-29")
async def test_a_bank_transfer_is_no_way_to_be_charged_later(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    account = await billing.account(host, owner.organization_id, again=True)
    path = f"/billing/accounts/{account.id}/payment-methods"

    answer = await api.post(path, json={"provider": "eft"}, headers=within(owner))
    waits = await api.get("/billing/payments", headers=within(owner))

    refused = answer.json()
    assert (answer.status_code, refused["code"]) == (422, "billing-provider-not-allowed")
    assert "eft" not in refused["allowed"]
    assert waits.json()["items"] == []
