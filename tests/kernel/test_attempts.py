"""`Work.attempt`: a part of a unit of work that fails alone."""

from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import select

from tests.conftest import Opening
from tests.probe import Thing, ThingChanged
from thenga.kernel.db.outages import may_pass
from thenga.kernel.db.work import UnsavedChange, Work
from thenga.kernel.errors import DependencyUnavailable, NotFound


class Broken(Exception):
    """The part went wrong."""


async def _raise_amount(work: Work, thing_id: UUID, *, amount: int, breaks: bool) -> None:
    async with work.attempt():
        thing = await work.lock(Thing, thing_id)
        thing.amount = amount
        await work.save(thing)
        work.publish(
            ThingChanged(organization_id=work.organization_id, thing_id=thing_id, amount=amount)
        )
        await work.add(Thing(organization_id=work.organization_id, name=f"of {amount}"))
        if breaks:
            raise Broken


async def _left(opening: Opening, organization_id: UUID) -> tuple[list[tuple[str, int]], int]:
    """Names and amounts of the things, and how many events were published."""
    things = await opening.reader(organization_id).all(select(Thing).order_by(Thing.name))
    async with opening.host.engines.connection("probe", "probe_system") as connection:
        told = await connection.fetchval(
            "SELECT count(*) FROM probe.outbox WHERE organization_id = $1", organization_id
        )
    return [(thing.name, thing.amount) for thing in things], told


async def test_failed_attempt_leaves_what_was_before_and_after(opening: Opening):
    organization_id = uuid4()
    work = opening.work(organization_id)
    crane = await work.add(Thing(organization_id=organization_id, name="Crane"))

    await _raise_amount(work, crane.id, amount=1, breaks=False)
    with pytest.raises(Broken):
        await _raise_amount(work, crane.id, amount=2, breaks=True)
    await _raise_amount(work, crane.id, amount=3, breaks=False)
    await work.finish()

    assert await _left(opening, organization_id) == (
        [("Crane", 3), ("of 1", 0), ("of 3", 0)],
        2,
    )


async def test_row_locked_before_is_as_it_was_saved(opening: Opening):
    organization_id = uuid4()
    work = opening.work(organization_id)
    crane = await work.hold(await work.add(Thing(organization_id=organization_id, name="Crane")))
    crane.amount = 5
    await work.save(crane)

    with pytest.raises(asyncpg.PostgresError):
        async with work.attempt():
            held = await work.hold(crane)
            held.amount = 6
            await work.save(held)
            await work.run("SELECT 1 / 0")
    assert (crane.amount, crane.version) == (5, 2)
    crane.amount = 7
    await work.save(crane)
    await work.finish()

    assert await _left(opening, organization_id) == ([("Crane", 7)], 0)


async def test_unsaved_change_is_found_within_an_attempt(opening: Opening):
    organization_id = uuid4()
    work = opening.work(organization_id)
    crane = await work.add(Thing(organization_id=organization_id, name="Crane"))

    with pytest.raises(UnsavedChange):
        async with work.attempt():
            (await work.lock(Thing, crane.id)).amount = 4
    await work.finish()

    assert await _left(opening, organization_id) == ([("Crane", 0)], 0)


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (asyncpg.DeadlockDetectedError(), True),
        (asyncpg.LockNotAvailableError(), True),
        (asyncpg.AdminShutdownError(), True),
        (asyncpg.InterfaceError("connection is closed"), True),
        (DependencyUnavailable(dependency="files"), True),
        (asyncpg.InterfaceError("cannot switch to state 12"), False),
        (asyncpg.QueryCanceledError(), False),
        (asyncpg.UniqueViolationError(), False),
        (NotFound(), False),
        (KeyError("status"), False),
    ],
)
def test_errors_of_the_moment_are_told_from_defects(error: Exception, passes: bool):
    assert may_pass(error) is passes
