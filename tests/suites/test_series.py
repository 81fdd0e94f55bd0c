"""Numbers in a row: eight writers, a tenth of them rolled back, and no number missing."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import select

from tests.conftest import Opening
from tests.probe import Thing
from tests.suites.sizes import size
from thenga.kernel.db.series import next_number
from thenga.kernel.db.work import Work
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id

WRITERS, ROLLED_BACK = 8, 0.1

Numbering = Callable[[Work, str], Awaitable[int]]


class Counted(NamedTuple):
    """How many rows have a number, the highest of them, and how many numbers no row has."""

    numbers: int
    highest: int
    gaps: int


async def _write(opening: Opening, organization_id: UUID, tries: int, numbering: Numbering) -> None:
    for attempt in range(tries):
        work = opening.work(organization_id)
        try:
            number = await numbering(work, "case")
            await work.add(Thing(organization_id=organization_id, name="case", amount=number))
            # The first try of each writer is undone too, so that series begin again with 1.
            if attempt and random.random() >= ROLLED_BACK:
                await work.finish()
        finally:
            await work.close()


async def count(opening: Opening, tries: int, numbering: Numbering) -> Counted:
    organization_id = new_id()
    share = tries // WRITERS
    writers = (_write(opening, organization_id, share, numbering) for _ in range(WRITERS))
    await asyncio.gather(*writers)

    read = opening.reader(organization_id)
    numbers = [record[0] for record in await read.records(select(Thing.amount))]
    await read.close()
    assert len(set(numbers)) == len(numbers)
    return Counted(len(numbers), max(numbers), max(numbers) - len(numbers))


async def test_eight_writers_leave_no_gap(opening: Opening) -> None:
    counted = await count(opening, size(400, 8_000), next_number)

    print(f"numbers={counted.numbers} max={counted.highest} gaps={counted.gaps}")
    assert counted.gaps == 0
    assert counted.numbers == counted.highest > 0


async def test_a_planted_sequence_leaves_gaps(opening: Opening, settings: Settings) -> None:
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    await admin.execute("CREATE SEQUENCE probe.planted")
    await admin.execute("GRANT USAGE ON SEQUENCE probe.planted TO probe")

    async def from_a_sequence(work: Work, series: str) -> int:
        found = await work.query("SELECT nextval('probe.planted')")
        return int(found[0][0])

    try:
        counted = await count(opening, 400, from_a_sequence)
    finally:
        await admin.execute("DROP SEQUENCE probe.planted")
        await admin.close()

    assert counted.gaps > 0


async def test_series_and_organizations_count_apart(opening: Opening) -> None:
    ours, theirs = new_id(), new_id()
    asked = [(ours, "case"), (ours, "case"), (ours, "order"), (theirs, "case")]

    given = []
    for organization_id, series in asked:
        work = opening.work(organization_id)
        given.append(await next_number(work, series))
        await work.finish()

    assert given == [1, 2, 1, 1]


async def test_another_organization_neither_sees_nor_moves_a_series(opening: Opening) -> None:
    ours, theirs = new_id(), new_id()
    work = opening.work(ours)
    await next_number(work, "case")
    await work.finish()

    stranger = opening.work(theirs)
    seen = await stranger.query("SELECT 1 FROM probe.series WHERE organization_id = $1", ours)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await stranger.query(
            "INSERT INTO probe.series VALUES ($1, 'case', 1) ON CONFLICT (organization_id, name) "
            "DO UPDATE SET last_number = 99",
            ours,
        )
    await stranger.close()

    assert seen == []
