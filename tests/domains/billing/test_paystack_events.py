"""Paystack's events as they come: without numbers, in text, in lists; no cent is guessed."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.billing.paying import booked, findings, owner, told
from tests.domains.billing.test_signatures import deliver
from tests.factories import identity as people
from tests.factories import payments
from tests.providers import signing
from tests.providers.loopback import worker
from tests.suites import flows
from thenga.domains.billing.tables import Payment
from thenga.kernel.process.host import Host

__all__ = ["owner"]


def refunded(of: Payment, event: str = "refund.processed", **more: Any) -> signing.Sent:
    """As the documentation shows it: no number of its own, and amounts in text."""
    data = {
        "status": event.removeprefix("refund."),
        "transaction_reference": of.reference,
        "refund_reference": None,
        "amount": "5000",
        "currency": "ZAR",
        "processor": "instant-transfer",
    }
    return signing.paystack(event, data | more)


async def all_worked(host: Host, calls: list[signing.Sent]) -> list[str]:
    """The states of callbacks, in the order of their sending, once all have done their work."""
    bodies = [one.body for one in calls]

    async def states() -> list[str]:
        async with host.engines.connection("billing", "billing_system") as connection:
            rows = await connection.fetch(
                "SELECT encode(sha256, 'hex') AS hash, status FROM billing.provider_callback "
                "WHERE sha256 = ANY(SELECT sha256(one) FROM unnest($1::bytea[]) AS one) "
                "ORDER BY created_at, id",
                bodies,
            )
        return [row["status"] for row in rows]

    async def done() -> bool:
        found = await states()
        return len(found) == len(set(bodies)) and "received" not in found

    async with worker(host):
        await flows.until(done)
    return await states()


@pytest.mark.rule("BIL-36")
@pytest.mark.parametrize(
    "data", [[], {"domain": "live"}, None, {"id": True}, {"customer": {"code": "CUS_1"}}]
)
async def test_signed_event_is_applied_and_unused_type_ignored(
    api: httpx2.AsyncClient, host: Host, seeded: None, data: Any
):
    call = signing.paystack(f"subscription.expiring_cards.{uuid4()}", data)

    answers = [await deliver(api, call) for _ in range(2)]

    assert [one.status_code for one in answers] == [200, 200]
    assert await all_worked(host, [call]) == ["ignored"]


@pytest.mark.rule("BIL-35")
async def test_an_empty_secret_signs_nothing(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("THENGA_PAYSTACK_SECRETS_BILLING", "sk_live,")
    data = {"id": uuid4().int % 10**12}

    empty = await deliver(api, signing.paystack("transfer.success", data, key=""))
    true = await deliver(api, signing.paystack("transfer.success", data, key="sk_live"))

    assert (empty.status_code, true.status_code) == (401, 200)


@pytest.mark.rule("BIL-31")
@pytest.mark.parametrize("turned", [False, True])
async def test_unnumbered_refund_is_matched_by_its_payment(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, turned: bool
):
    of = await payments.paid_twice(host, owner.organization_id)
    calls = [
        refunded(of, "refund.pending"),
        refunded(of, "refund.processed", refund_reference="132013318360"),
    ]

    for call in reversed(calls) if turned else calls:
        assert (await deliver(api, call)).status_code == 200
        await all_worked(host, [call])

    books = await booked(host, owner.organization_id)
    events = await told(host, owner.organization_id)
    assert books["clearing.paystack"] == 2 * 49900 - 5000
    assert events.count("RefundSucceeded") == 1


@pytest.mark.rule("BIL-31")
async def test_known_refund_is_not_booked_again_by_reference(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    of = await payments.paid_twice(host, owner.organization_id)
    calls = [
        refunded(of, id=uuid4().int % 10**12, amount=5000),
        refunded(of, refund_reference="132013318361"),
        refunded(of, refund_reference="132013318362"),  # a second one of the same amount
    ]

    for call in calls:
        await deliver(api, call)
        await all_worked(host, [call])

    books = await booked(host, owner.organization_id)
    assert books["clearing.paystack"] == 2 * 49900 - 2 * 5000
    assert (await told(host, owner.organization_id)).count("RefundSucceeded") == 2


@pytest.mark.rule("BIL-36")
@pytest.mark.parametrize("amount", [None, "fifty", "0", 0, -5000])
async def test_refund_without_an_amount_is_quarantined_and_reported(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, amount: Any
):
    of = await payments.paid_twice(host, owner.organization_id)
    call = refunded(of, amount=amount, refund_reference=str(uuid4().int)[:12])

    await deliver(api, call)
    states = await all_worked(host, [call])

    books = await booked(host, owner.organization_id)
    assert (states, books["clearing.paystack"]) == (["quarantined"], 2 * 49900)
    assert "amount_differs" in await findings(host, of)
