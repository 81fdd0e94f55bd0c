"""How often one card is tried: the bounds of the card networks, over all that it was tried for."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories import payments as making
from tests.factories.paying import Payer
from tests.planting import plant
from thenga.domains.billing.services.payments import attempts
from thenga.domains.billing.tables import PaymentStatus, Subscription, Trial
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

pytestmark = pytest.mark.no_retry

NOVEMBER = datetime(2026, 11, 14, 8, tzinfo=UTC)
STARTER = {"planCode": "starter", "interval": "month"}
HOUR = timedelta(hours=1)


async def tries(
    api: httpx2.AsyncClient, payer: Payer, count: int, *, every: timedelta
) -> list[httpx2.Response]:
    """So many purchases one after the other, each declined; a sign-up takes the former's place."""
    answers = []
    begun = payer.host.now()
    for n in range(count):
        payer.clock.set(begun + n * every)
        headers = await paying.owner_of(payer.host, payer)
        wish = STARTER | {"paymentMethodId": str(payer.method.id)}
        answers.append(await api.post("/billing/subscriptions", json=wish, headers=headers))
        await payer.settle()
    return answers


def refused(answers: list[httpx2.Response]) -> list[Any]:
    return [one.json()["nextAllowedAt"] for one in answers if one.status_code == 409]


@pytest.mark.rule("BIL-42")
@pytest.mark.parametrize(
    ("every", "most", "window"),
    [(HOUR, 10, timedelta(days=1)), (timedelta(days=1), 15, timedelta(days=30))],
    ids=["day", "month"],
)
async def test_one_card_is_tried_so_often_as_the_networks_allow(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    clock: Time,
    every: timedelta,
    most: int,
    window: timedelta,
):
    payer = await paying.payer(host, clock, NOVEMBER)
    payer.card = "soft"

    answers = await tries(api, payer, most + 2, every=every)

    made = sum(one.status_code == 201 for one in answers)
    print(f"window_days={window.days} tried={made} refused={len(refused(answers))}")
    assert [one.status_code for one in answers] == [201] * most + [409] * 2
    assert answers[-1].json()["code"] == "billing-retry-limit"
    assert refused(answers) == [(NOVEMBER + window).isoformat()] * 2
    assert len(payer.charged) == most


@pytest.mark.rule("BIL-42")
async def test_renewal_waits_when_the_card_is_at_its_attempt_limit(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, NOVEMBER)
    bought = await payer.buy("starter")
    await payer.at(datetime(2026, 12, 13, 12, tzinfo=UTC))
    await _was_refused(payer, 10)
    charged = len(payer.charged)

    await payer.at(datetime(2026, 12, 13, 23, tzinfo=UTC))  # 14 December has begun, local
    at_renewal, now = len(payer.charged) - charged, await payer.read(Subscription, bought.id)
    await payer.at(datetime(2026, 12, 17, 7, tzinfo=UTC))

    later = await payer.read(Subscription, bought.id)
    print(f"charged_at_renewal={at_renewal} {now.status} later={len(payer.charged) - charged}")
    assert (at_renewal, now.status) == (0, "past_due")
    assert (len(payer.charged) - charged, later.status) == (1, "active")


@pytest.mark.rule("BIL-18")
async def test_ending_trial_waits_when_the_card_is_at_its_limit(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, NOVEMBER)
    headers = await paying.owner_of(host, payer)
    wish = {"interval": "month", "paymentMethodId": str(payer.method.id), "when": "trial_end"}
    trial = (await api.post("/billing/trials", json={}, headers=headers)).json()
    chosen = await api.post(f"/billing/trials/{trial['id']}/convert", json=wish, headers=headers)
    await payer.at(datetime(2026, 11, 28, 12, tzinfo=UTC))
    await _was_refused(payer, 10, gross=Money.of("1499.00"))

    await payer.at(datetime(2026, 11, 28, 23, tzinfo=UTC))  # 29 November has begun, local
    ended = await payer.read(Trial, UUID(trial["id"]))
    waits = await payer.read(Subscription, ended.subscription_id)
    await payer.at(datetime(2026, 12, 2, 7, tzinfo=UTC))

    bought = await payer.read(Subscription, ended.subscription_id)
    assert chosen.status_code == 200
    assert (ended.status, waits.status, bought.status) == ("converted", "past_due", "active")


async def _was_refused(payer: Payer, times: int, gross: Money = making.STARTER) -> None:
    """That card has just failed for the price of the plan, on another invoice."""
    due = await making.invoice(payer.host, payer.organization_id, gross=gross)
    for _ in range(times):
        await making.payment(
            *(payer.host, payer.organization_id),
            provider="sandbox",
            status=PaymentStatus.FAILED,
            of=due,
            payment_method_id=payer.method.id,
        )


async def test_a_planted_bound_of_nothing_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
):
    async def at_once(read: Any, *_: Any) -> datetime:
        return read.now

    plant(monkeypatch, attempts, "next_charge_allowed", at_once)
    payer = await paying.payer(host, clock, NOVEMBER)
    payer.card = "soft"

    assert refused(await tries(api, payer, 11, every=HOUR)) == []
