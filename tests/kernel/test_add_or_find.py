"""`Work.add_or_find`: of many that add the same at once, one adds and the rest find it."""

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy import select

from tests.conftest import Opening
from tests.planting import plant
from tests.probe import Label
from thenga.kernel.db import statements
from thenga.kernel.errors import Duplicate
from thenga.kernel.process.settings import Settings

BY = ("organization_id", "name")


async def labelled(opening: Opening, organization_id: UUID, name: str) -> tuple[Label, bool]:
    work = opening.work(organization_id)
    try:
        found = await work.add_or_find(Label(organization_id=organization_id, name=name), by=BY)
        await work.finish()
    finally:
        await work.close()
    return found


async def labels(opening: Opening, organization_id: UUID) -> list[Label]:
    read = opening.reader(organization_id)
    found = await read.all(select(Label))
    await read.close()
    return found


async def test_what_is_there_is_found_and_changed(opening: Opening) -> None:
    organization_id = uuid4()
    first, is_new = await labelled(opening, organization_id, "Crane")
    work = opening.work(organization_id)

    found, is_second_new = await work.add_or_find(
        Label(organization_id=organization_id, name="Crane", slot="left"), by=BY
    )
    await work.hold(found)
    found.slot = "right"
    await work.save(found)
    await work.finish()

    (kept,) = await labels(opening, organization_id)
    assert (is_new, is_second_new) == (True, False)
    assert (kept.id, kept.slot, kept.version) == (first.id, "right", 2)


async def test_of_fifty_at_once_one_is_new(opening: Opening) -> None:
    organization_id = uuid4()

    made = await asyncio.gather(*(labelled(opening, organization_id, "Crane") for _ in range(50)))

    rows, new = await labels(opening, organization_id), sum(is_new for _, is_new in made)
    print(f"calls=50 rows={len(rows)} new={new} ids={len({row.id for row, _ in made})}")
    assert (len(rows), new) == (1, 1)
    assert {row.id for row, _ in made} == {rows[0].id}


async def test_only_the_new_row_is_in_the_trail(opening: Opening) -> None:
    organization_id = uuid4()
    await labelled(opening, organization_id, "Crane")
    work = opening.work(organization_id)

    await work.add_or_find(Label(organization_id=organization_id, name="Crane"), by=BY)

    assert (work._audit, work._versions) == ([], {})
    await work.close()


@pytest.mark.parametrize(
    "by", [("organization_id", "slot"), ("name",), ("organization_id", "name", "slot")]
)
async def test_what_is_no_whole_unique_key_is_refused(opening: Opening, by: Any) -> None:
    organization_id = uuid4()
    work = opening.work(organization_id)

    with pytest.raises(LookupError, match="is no whole unique key"):
        await work.add_or_find(
            Label(organization_id=organization_id, name="Crane", slot="left"), by=by
        )
    await work.close()


async def test_a_key_without_a_value_is_refused(opening: Opening) -> None:
    work = opening.work(uuid4())

    with pytest.raises(LookupError, match="no value"):
        await work.add_or_find(
            Label(organization_id=uuid4(), name="Crane"), by=("organization_id", "slot")
        )
    await work.close()


@pytest.fixture
def unique_everywhere(settings: Settings) -> Iterator[None]:
    """A key over all organizations, as few tables have one."""
    address = settings.admin_database.get_secret_value()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE UNIQUE INDEX label_anywhere ON probe.label (name, slot)")
        yield
        connection.execute("DROP INDEX probe.label_anywhere")


async def test_a_row_that_cannot_be_read_is_a_duplicate(
    opening: Opening, unique_everywhere: None
) -> None:
    slot, works = str(uuid4()), [opening.work(uuid4()) for _ in range(2)]
    first, second = (
        Label(organization_id=work.organization_id, name="Crane", slot=slot) for work in works
    )
    await works[0].add_or_find(first, by=("name", "slot"))
    await works[0].finish()

    with pytest.raises(Duplicate):  # it is another organization's
        await works[1].add_or_find(second, by=("name", "slot"))
    await works[1].close()


async def test_a_planted_insert_that_ignores_the_key_is_found(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    def into_any(table: Any, by: Any) -> str:
        return f"{statements.insert(table)} ON CONFLICT DO NOTHING"

    plant(monkeypatch, statements, "insert_once", into_any)
    work = opening.work(uuid4())

    # Without the named key a partial index would count as well, and nothing would be refused.
    _, is_new = await work.add_or_find(
        Label(organization_id=work.organization_id, name="Crane", slot="left"),
        by=("organization_id", "slot"),
    )
    assert is_new
    await work.close()
