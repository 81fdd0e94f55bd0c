"""Whatever a provider says of a payment, in any order and however often: one end (BIL-31)."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import false

from tests.conftest import Time
from tests.domains.billing import orders
from tests.domains.billing.orders import Shuffled
from tests.planting import plant
from tests.suites.sizes import size
from thenga.domains.billing.services.ledger import credit
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.tables import PaymentStatus
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.no_retry


@pytest.mark.rule("BIL-31")
async def test_every_order_of_a_history_ends_the_same(host: Host, seeded: None, clock: Time):
    histories, shuffles = size(check=15, prove=200), size(check=4, prove=100)
    shuffled, began = Shuffled(), time.perf_counter()
    customers = [await orders.waiting(host, clock, one) for one in orders.SITUATIONS]

    # Two halves at once, of different customers: one reckons while the other's rows are read.
    async def half(first: int) -> None:
        for seed in range(histories)[first::2]:
            customer = customers[(seed // 2 + 2 * first) % len(customers)]
            await shuffled.live(host, customer, [seed], shuffles)

    await asyncio.gather(half(0), half(1))

    apart = Counter((name, what) for name, _, ends in shuffled.differing for what in ends)
    print(
        f"histories={shuffled.histories} situations={len(customers)} shuffles={shuffles} "
        f"orders={shuffled.orders} statements={shuffled.statements} "
        f"differing={len(shuffled.differing)} seconds={time.perf_counter() - began:.0f}"
    )
    assert (shuffled.differing[:1], apart) == ([], Counter())
    assert (shuffled.histories, shuffled.orders) == (histories, histories * shuffles)


def believe_the_last(patch: pytest.MonkeyPatch) -> None:
    """As if whatever is heard last were true."""
    ranks = dict.fromkeys(PaymentStatus, 0) | {PaymentStatus.FAILED: 1, PaymentStatus.CANCELLED: 1}
    plant(patch, provider_results, "_RANK", ranks)


def spend_what_is_left(patch: pytest.MonkeyPatch) -> None:
    """As if a refund that we hear of first ate the money that came for the invoice."""
    plant(patch, credit, "_WENT_BACK", credit._WENT_BACK.where(false()))


@pytest.mark.parametrize(
    ("plant", "situation"),
    [
        (believe_the_last, orders.first),
        (spend_what_is_left, orders.renewal),
    ],
)
async def test_a_planted_order_is_found(
    host: Host,
    seeded: None,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
    plant: Callable[[pytest.MonkeyPatch], None],
    situation: orders.Situation,
):
    customer, shuffled = await orders.waiting(host, clock, situation), Shuffled()
    plant(monkeypatch)

    await shuffled.live(host, customer, range(6), 6)

    print(f"planted={plant.__name__} differing={len(shuffled.differing)}")
    assert shuffled.differing
