"""Thousands of histories, by the services and by an independent model: not a cent apart."""

import itertools
from typing import Any

import pytest

from tests.domains.billing import histories
from tests.suites.sizes import size
from thenga.domains.billing.services import proration
from thenga.kernel.host import Host
from thenga.kernel.money import Money

HISTORIES = size(check=20, prove=5000)


async def _lived(host: Host, count: int, seed: int = 0) -> list[histories.Found]:
    async with host.engines.connection("billing", "billing_system") as connection:
        return [await histories.live(host, connection, seed + n) for n in range(count)]


@pytest.mark.rule("BIL-10")
@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-55")
async def test_histories_cost_what_the_model_says(host: Host, seeded: None):
    found = await _lived(host, HISTORIES)

    violations = [one for each in found for one in each.violations]
    cents = sum(each.cents_off for each in found)
    print(
        f"histories={len(found)} invoices={sum(each.invoices for each in found)} "
        f"violations={len(violations)} cents_off={cents}"
    )
    assert violations[:5] == []
    assert cents == 0


async def test_a_planted_cent_is_found(host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch):
    true = proration.part

    def down(gross: Money, days: int, of_days: int) -> Money:
        exact: Any = true(gross, days, of_days)
        return Money(gross.minor * days // of_days, gross.currency) or exact

    monkeypatch.setattr(proration, "part", down)

    seeds = itertools.takewhile(lambda seed: seed < 30, itertools.count())
    off = 0
    while not off:
        (found,) = await _lived(host, 1, next(seeds))
        off += found.cents_off

    assert off > 0
