"""Runners in the background of a test, and things for them to carry."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol
from uuid import UUID

from tests.conftest import Opening
from tests.probe import Thing, ThingChanged, ThingMade


class Runner(Protocol):
    async def run(self, stop: asyncio.Event) -> None: ...


@asynccontextmanager
async def running(*runners: Runner) -> AsyncIterator[None]:
    stop = asyncio.Event()
    tasks = [asyncio.create_task(runner.run(stop)) for runner in runners]
    try:
        yield
    finally:
        stop.set()
        done, late = await asyncio.wait(tasks, timeout=60)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        assert not late, "a runner did not stop"
        for task in done:
            task.result()


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():  # it is elsewhere that something happens
            await asyncio.sleep(0.05)


async def until_true(condition: Callable[[], bool], seconds: float = 60) -> None:
    """As `until`, for a condition of this process."""
    async with asyncio.timeout(seconds):
        while not condition():  # it is elsewhere that something happens
            await asyncio.sleep(0.005)


async def make_things(opening: Opening, organization_id: UUID, count: int) -> list[UUID]:
    made: list[UUID] = []
    while len(made) < count:
        work = opening.work(organization_id)
        for _ in range(min(100, count - len(made))):
            thing = await work.add(Thing(organization_id=organization_id, name="thing"))
            work.publish(ThingMade(organization_id=organization_id, thing_id=thing.id))
            made.append(thing.id)
        await work.finish()
    return made


async def change_thing(opening: Opening, organization_id: UUID, thing_id: UUID) -> None:
    work = opening.work(organization_id)
    try:
        thing = await work.lock(Thing, thing_id)
        thing.amount += 1
        await work.save(thing)
        work.publish(
            ThingChanged(organization_id=organization_id, thing_id=thing_id, amount=thing.amount)
        )
        await work.finish()
    finally:
        await work.close()
