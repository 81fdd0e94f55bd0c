"""A test that leaves units of work open does not keep connections from the tests after it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from uuid import uuid4

import pytest
from sqlalchemy import func, select

from tests.conftest import Opening
from tests.left_open import Units
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Overloaded
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.starting import make_host


@pytest.fixture
async def small(settings: Settings) -> AsyncIterator[Host]:
    """A host with a pool of its own, whose users do not wait long."""
    bounded = settings.model_copy(update={"pool_size": 3, "pool_wait_seconds": 0.1})
    made = make_host(bounded)
    yield made
    await made.close()


async def _begun(host: Host) -> Work:
    work = Opening(host).work(uuid4())
    await work.value(select(func.now()))
    return work


async def _failing(host: Host) -> None:
    """A test that begins three units of work and ends none."""
    for _ in range(3):
        await _begun(host)
    raise AssertionError("planted")


async def _ended(test: Awaitable[None]) -> None:
    with pytest.raises(AssertionError, match="planted"):
        await asyncio.ensure_future(test)


async def test_units_of_a_failed_test_are_closed_after_it(small: Host, units: Units) -> None:
    before = units.open()
    await _ended(_failing(small))

    with pytest.raises(Overloaded):  # what every test after it would see
        await _begun(small)
    left = await units.close_left(before)

    assert len(left) == 3
    await (await _begun(small)).close()


async def test_units_of_a_running_task_stay_open(small: Host, units: Units) -> None:
    before, go_on = units.open(), asyncio.Event()

    async def background() -> bool:
        work = await _begun(small)
        await go_on.wait()
        await work.value(select(func.now()))
        await work.close()
        return True

    running = asyncio.create_task(background())
    while units.open() == before:
        await asyncio.sleep(0)
    left = await units.close_left(before)
    go_on.set()

    assert left == []
    assert await running


async def test_units_begun_before_a_test_stay_open(small: Host, units: Units) -> None:
    work = await asyncio.create_task(_begun(small))

    left = await units.close_left(units.open())

    assert left == []
    await work.close()
