"""`Reader.select_prepared`: one composed statement with new values each time, own rows only."""

from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import bindparam, func, select

from tests.conftest import Opening
from tests.probe import Thing
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among_named
from thenga.kernel.process.host import Host

_NAMED = select(Thing).where(Thing.name == bindparam("name")).order_by(Thing.amount.desc())
_AMONG = select(Thing).where(among_named(Thing.__table__.c.name, "names")).order_by(Thing.amount)
_COUNT = select(func.count()).select_from(Thing).where(Thing.organization_id == bindparam("place"))


@pytest.fixture
async def places(opening: Opening) -> list[UUID]:
    """Two organizations, each with three cranes and a digger."""
    made = [uuid4(), uuid4()]
    for place in made:
        work = opening.work(place)
        for amount, name in enumerate(["Crane", "Crane", "Crane", "Digger"]):
            await work.add(Thing(organization_id=place, name=name, amount=amount))
        await work.finish()
    return made


def seeing_all(host: Host, place: UUID) -> Reader:
    """As the system login, which no row security holds back."""
    scope = Scope(actor=SYSTEM, organization_id=place)
    return Reader(host, "probe", scope, Origin("test", "test", "test"), login="probe_system")


async def test_each_call_has_its_own_values_and_bounds(opening: Opening, places: list[UUID]):
    read = opening.reader(places[0])

    cranes = await read.select_prepared(_NAMED, name="Crane")
    first = await read.select_prepared(_NAMED, limit=1, name="Crane")
    diggers = await read.select_prepared(_NAMED, name="Digger")
    both = await read.select_prepared(_AMONG, names=["Crane", "Digger"])
    count = await read.value(_COUNT, place=places[0])
    await read.close()

    assert [one.amount for one in cranes] == [2, 1, 0]
    assert [one.amount for one in first] == [2]
    assert [one.amount for one in diggers] == [3]
    assert ([one.amount for one in both], count) == ([0, 1, 2, 3], 4)


async def test_prepared_select_reads_only_own_rows(
    host: Host, places: list[UUID], monkeypatch: pytest.MonkeyPatch
):
    async def seen(place: UUID) -> set[UUID]:
        read = seeing_all(host, place)
        found = await read.select_prepared(_NAMED, name="Crane")
        await read.close()
        return {one.organization_id for one in found}

    mine, theirs = [await seen(place) for place in places]
    monkeypatch.setattr(Reader, "_bound", lambda self, row, columns: columns)
    planted = await seen(places[0])

    print(f"own={len(mine)} planted={len(planted)}")
    assert (mine, theirs) == ({places[0]}, {places[1]})
    assert planted >= set(places)


async def _prepared(connection: Any, shapes: int) -> int:
    for number in range(shapes):
        await connection.fetchval(f"SELECT $1::int + {number}", number)
    kept: int = await connection.fetchval("SELECT count(*) FROM pg_prepared_statements")
    return kept


async def test_a_connection_keeps_all_shapes_of_a_domain_prepared(host: Host):
    async with host.engines.connection("probe", "probe_system") as connection:
        kept = await _prepared(connection, 300)
    bare = await asyncpg.connect(host.engines.address("probe", "probe_system"))
    planted = await _prepared(bare, 300)
    await bare.close()

    print(f"shapes=300 kept={kept} without={planted}")
    assert kept >= 300 > planted
