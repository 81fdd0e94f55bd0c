"""Money that a bank takes back: not given a second time, and the plan is suspended at once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import paying, payments
from tests.factories.paying import Payer
from thenga.domains.billing.services.customer import notices
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.services.subscriptions import letters
from thenga.domains.billing.tables import (
    Payment,
    Subscription,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
    StatementKind,
)
from thenga.kernel.process.host import Host

S = StatedStatus
BOUGHT = datetime(2027, 1, 14, 8, tzinfo=UTC)
RENEWED = datetime(2027, 2, 13, 22, tzinfo=UTC)


async def paid(payer: Payer) -> list[Payment]:
    found = await payer.rows("SELECT id FROM billing.payment WHERE organization_id = $1 ORDER BY 1")
    return [await payer.read(Payment, row["id"]) for row in found]


async def said(payer: Payer, of: Payment, status: StatedStatus, number: str = "d-1") -> None:
    """What the bank says of a dispute."""
    work = payer.work()
    stated = payments.said(of, status, kind=StatementKind.DISPUTE, item_reference=number)
    await provider_results.apply_report(work, of.id, stated)
    await work.finish()


async def lost(host: Host, clock: Time) -> tuple[Payer, Subscription, Payment]:
    """The second month was paid, disputed and lost, ten days after."""
    payer = await paying.payer(host, clock, BOUGHT)
    bought = await payer.buy("professional")
    await payer.at(RENEWED + timedelta(days=10))
    payment = (await paid(payer))[-1]
    await said(payer, payment, S.OPEN)
    await said(payer, payment, S.LOST)
    return payer, await payer.read(Subscription, bought.id), payment


@pytest.mark.rule("BIL-8")
async def test_a_plan_is_disputed_while_one_of_its_payments_is(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, BOUGHT)
    bought = await payer.buy("professional")
    await payer.at(RENEWED + timedelta(days=1))
    first, second = await paid(payer)

    seen = []
    for of, status in ((first, S.OPEN), (second, S.OPEN), (second, S.WON), (first, S.WON)):
        await said(payer, of, status)
        seen.append((await payer.read(Subscription, bought.id)).disputed)

    assert seen == [True, True, True, False]


@pytest.mark.rule("BIL-41")
@pytest.mark.rule("BIL-55")
async def test_lost_dispute_suspends_at_once_without_extra_credit(
    host: Host, seeded: None, clock: Time
):
    payer, subscription, _ = await lost(host, clock)
    work = payer.work()
    signal = await current.signal(work, "bid.workspaces")
    await work.close()
    before = await payer.told()

    await payer.at(RENEWED + timedelta(days=50))

    told = await payer.rows(
        "SELECT envelope::jsonb -> 'data' -> 'remedy' ->> 'kind' AS remedy FROM billing.outbox "
        "WHERE organization_id = $1 AND mesh_subject LIKE '%.PaymentFailed.%'"
    )
    notes = await payer.rows("SELECT 1 FROM billing.credit_note WHERE organization_id = $1")
    later = (await payer.told())[len(before) :]
    ended = await payer.read(Subscription, subscription.id)
    print(f"lost={subscription.status} access={signal.access} remedy={signal.remedy} then={later}")
    assert subscription.status == "suspended"
    assert (signal.access, signal.reason) == ("none", "suspended")
    assert signal.remedy is not None
    assert signal.remedy.kind == "contact"
    assert [one["remedy"] for one in told] == ["contact"]  # once, and no reminders
    assert "GraceEnding" not in later
    assert (ended.status, notes) == ("ended", [])


@pytest.mark.rule("BIL-8")
async def test_reversed_payment_is_neither_credited_nor_refunded(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, subscription, payment = await lost(host, clock)
    headers = await paying.owner_of(host, payer)
    operator = await people.staff(host, "platform_operator")
    there = operator.headers | {"X-Organization-Id": str(payer.organization_id)}
    asked = {"amount": {"amount": "10.00", "currency": "ZAR"}, "reason": "They asked for it"}

    refund = await api.post(f"/billing/payments/{payment.id}/refunds", json=asked, headers=there)
    left = await api.post(
        f"/billing/subscriptions/{subscription.id}/cancel",
        json={"mode": "immediate", "reasonCode": "other", "settlement": "refund"},
        headers=headers,
    )

    notes = (await api.get("/billing/credit-notes", headers=headers)).json()["items"]
    print(f"refund={refund.status_code} {refund.json()['detail']} cancel={left.status_code}")
    assert (refund.status_code, refund.json()["code"]) == (409, "invalid-transition")
    assert refund.json()["disputeStatus"] == "lost"
    assert (left.status_code, notes) == (202, [])


async def test_the_payer_is_told_what_their_bank_did(host: Host, seeded: None, clock: Time):
    payer, _, _ = await lost(host, clock)
    work = payer.work()
    account = await work.lock(type(payer.account), payer.account.id)
    account.invoice_emails = ["books@mokoena.example"]
    await work.save(account)
    await work.finish()
    (failure,) = await payer.rows(
        "SELECT id FROM billing.payment_failure WHERE organization_id = $1"
    )

    work = payer.work()
    written: Any = await letters.compose_letter(work, notices.DISPUTE_LOST, failure["id"])
    await work.close()

    assert written.facts["amount"] == "ZAR 1499.00"
    assert written.facts["until"] == "2027-03-26"
