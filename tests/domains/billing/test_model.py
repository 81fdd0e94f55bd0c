"""Thousands of histories, by the services and by an independent model: not a cent apart."""

import asyncio
import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.domains.billing import histories
from tests.domains.billing.histories import Found
from tests.planting import plant
from tests.suites.processes import Child
from tests.suites.sizes import size
from thenga.domains.billing.services.pricing import proration
from thenga.domains.billing.services.subscriptions import cancellation_refunds
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

pytestmark = pytest.mark.no_retry

HISTORIES = size(check=4, prove=5000)
# One lives the even seeds, one the odd: a book each. A few need no processes of their own.
PROCESSES = size(check=0, prove=2)
_ROOT = Path(__file__).parents[3]


async def _apart(count: int, folder: Path) -> Found:
    """The histories in processes of their own; a history leaves nothing behind in the database."""
    env = {key: value for key, value in os.environ.items() if key.startswith("THENGA_")}
    env["PYTHONPATH"] = str(_ROOT)
    children, found = [], Found()
    for place in range(PROCESSES):
        share = [str(place), str(count), str(PROCESSES), str(folder / f"found-{place}")]
        command = [sys.executable, "-m", "tests.domains.billing.histories", *share]
        children.append(Child(f"histories-{place}", command, env, folder))
    try:
        for child in children:
            child.begin()
        while any(child.is_running() for child in children):
            await asyncio.sleep(0.2)
    finally:
        for child in children:
            child.kill()
    for place, child in enumerate(children):
        wrote = folder / f"found-{place}"
        assert wrote.exists(), child.log.read_text(errors="replace")[-3000:]
        found.add(Found(**json.loads(wrote.read_text())))
    return found


@pytest.mark.rule("BIL-8")
@pytest.mark.rule("BIL-10")
@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-55")
async def test_histories_cost_what_the_model_says(host: Host, seeded: None, tmp_path: Path):
    began = time.perf_counter()

    if PROCESSES:
        found = await _apart(HISTORIES, tmp_path)
    else:
        found = await histories.live_all(host, range(HISTORIES))

    print(
        f"histories={found.histories} invoices={found.invoices} "
        f"violations={len(found.violations)} cents_off={found.cents_off} "
        f"seconds_each={found.seconds / found.histories:.2f} "
        f"processes={PROCESSES} seconds={time.perf_counter() - began:.0f}"
    )
    assert found.violations[:5] == []
    assert (found.histories, found.cents_off) == (HISTORIES, 0)


async def _cents_off(host: Host) -> int:
    """By how much the first histories that differ at all do."""
    seeds = itertools.takewhile(lambda seed: seed < 60, itertools.count())
    off = 0
    while not off:
        seed = next(seeds)
        off += (await histories.live_all(host, range(seed, seed + 1))).cents_off
    return off


async def test_a_planted_cent_is_found(host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch):
    true = proration.prorate

    def down(gross: Money, days: int, of_days: int) -> Money:
        exact: Any = true(gross, days, of_days)
        return Money(gross.minor * days // of_days, gross.currency) or exact

    plant(monkeypatch, proration, "prorate", down)

    assert await _cents_off(host) > 0


@pytest.mark.prove
async def test_planted_partial_refund_of_a_full_one_is_found(
    host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    async def never(*_: Any) -> bool:
        return False

    plant(monkeypatch, cancellation_refunds, "_is_in_refund_window", never)

    assert await _cents_off(host) > 0
