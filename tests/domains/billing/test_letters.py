"""What the payer reads: the day, the sum and the plan as they are, delivered once to everybody."""

from datetime import UTC, datetime
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.paying import Payer
from thenga.domains.billing.services.customer import notices
from thenga.kernel.process.host import Host

READS = "you can read and export everything, but not change it."


async def failed(payer: Payer) -> UUID:
    (found,) = await payer.rows("SELECT id FROM billing.payment_failure WHERE organization_id = $1")
    return UUID(str(found["id"]))


@pytest.mark.rule("BIL-40")
@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("read_only", f"From 29 November 2026, {READS}"),
        ("none", "From 29 November 2026, the plan is suspended. You can still export"),
        ("keep", "You keep full access."),
    ],
)
async def test_grace_letter_says_when_and_how_access_is_reduced(
    host: Host, seeded: None, clock: Time, after: str, said: str
):
    payer, _ = await paying.declined(host, clock)
    await payer.rows(
        "UPDATE billing.payment_failure SET policy = policy || "
        f"jsonb_build_object('afterGrace', '{after}', 'afterExhausted', '{after}') "
        "WHERE organization_id = $1 RETURNING id"
    )
    clock.set(datetime(2026, 11, 25, 22, tzinfo=UTC))

    written = await payer.letter(notices.GRACE_ENDING, await failed(payer))

    assert written is not None
    assert said in written


@pytest.mark.rule("BIL-40")
@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2026-11-21T06:00:01Z", "You keep full access until 28 November 2026."),
        ("2026-11-29T06:00:00Z", f"Until it is paid, {READS}"),
        ("2026-12-05T06:00:01Z", "Until it is paid, the plan is suspended."),
    ],
)
async def test_a_failed_attempt_is_told_with_what_is_open_that_day(
    host: Host, seeded: None, clock: Time, at: str, said: str
):
    payer, _ = await paying.declined(host, clock)
    await payer.at(datetime.fromisoformat(at))

    written = await payer.letter(notices.PAYMENT_FAILED, await failed(payer))

    assert written is not None
    assert said in written


@pytest.mark.rule("BIL-40")
@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("period_end", "You keep your access until"),
        ("immediate", "Your access to the plan has ended."),
    ],
)
async def test_cancellation_letter_says_what_is_left(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, mode: str, said: str
):
    payer = await paying.payer(host, clock, datetime(2026, 11, 14, 8, tzinfo=UTC))
    held = await payer.buy("starter")
    headers = await paying.owner_of(host, payer)
    asked = {"reasonCode": "other", "mode": mode}
    left = await api.post(f"/billing/subscriptions/{held.id}/cancel", json=asked, headers=headers)

    written = await payer.letter(notices.SUBSCRIPTION_CANCELLED, UUID(left.json()["id"]))

    assert written is not None
    assert said in written


@pytest.mark.rule("BIL-42")
async def test_payment_needing_approval_sends_a_pay_link(host: Host, seeded: None, clock: Time):
    payer, _ = await paying.declined(host, clock, card="authentication")
    (failure,) = await payer.rows(
        "SELECT invoice_id FROM billing.payment_failure WHERE organization_id = $1"
    )

    written = await payer.letter(notices.PAYMENT_FAILED, await failed(payer))

    assert written is not None
    assert f"https://thenga.example/pay/{failure['invoice_id']}" in written


@pytest.mark.rule("BIL-14")
async def test_a_renewal_is_told_with_the_plan_that_it_begins(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, datetime(2027, 1, 14, 8, tzinfo=UTC))
    held = await payer.buy("professional")
    headers = await paying.owner_of(host, payer)
    path = f"/billing/subscriptions/{held.id}/change-plan"
    await api.post(path, json={"planCode": "starter"}, headers=headers)
    await payer.at(datetime(2027, 2, 11, 8, tzinfo=UTC))
    (renewal,) = await payer.rows("SELECT id FROM billing.renewal WHERE organization_id = $1")

    written = await payer.letter(notices.RENEWAL_DUE, renewal["id"])
    headers = await paying.owner_of(host, payer)
    leaving = {"reasonCode": "other"}
    await api.post(f"/billing/subscriptions/{held.id}/cancel", json=leaving, headers=headers)
    left = await payer.letter(notices.RENEWAL_DUE, renewal["id"])

    assert written is not None
    assert "Your Starter plan renews on 14 February 2027. R499,00" in written
    assert "credit is already deducted" in written
    assert left is None  # who leaves is told of no renewal
