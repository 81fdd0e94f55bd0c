"""Columns by annotation: their types, their defaults, and values that return as they were."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
import sqlalchemy as sa
from sqlalchemy import select

from tests.stalls import Place, Produce, Stall, StallStatus
from tests.stalls.stored import migrate_stalls, work_for
from tests.suites.tables import sweep
from thenga.kernel.db.column_types import NoColumnType
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow, col, rows
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

ORGANIZATION = UUID("019a0000-0000-7000-8000-0000000000c1")


@pytest.fixture(scope="module", autouse=True)
def migrated(settings: Settings) -> None:
    migrate_stalls(settings)


@pytest.fixture
async def admin(settings: Settings) -> Any:
    connection = await asyncpg.connect(settings.admin_database.get_secret_value())
    yield connection
    await connection.close()


def full_stall() -> Stall:
    return Stall(
        organization_id=ORGANIZATION,
        code=uuid4().hex,
        name="Bread and more",
        opens_on=date(2026, 11, 14),
        fee=Decimal("12.50"),
        place=Place(town="Thohoyandou", radius_km=25, rent_paid=Decimal("100.10")),
        earlier_places=(Place(town="Sibasa"),),
        produce=[Produce.BREAD, Produce.FRUIT],
        neighbour_ids=[ORGANIZATION],
        extras={"size": [1, 2]},
        landlord_id=ORGANIZATION,
        pin="1234",
        next_check_at=datetime(2026, 11, 14, 8, tzinfo=UTC),
    )


async def test_a_row_returns_as_it_was_stored(host: Host):
    work = work_for(host, ORGANIZATION)
    stored = await work.add(full_stall())
    await work.finish()

    reading = work_for(host, ORGANIZATION)
    found = await reading.get(Stall, stored.id)
    await reading.close()

    assert found.__dict__ == stored.__dict__
    assert (found.status, found.size, found.places) == (StallStatus.OPEN, "small", 1)
    assert found.place == Place(town="Thohoyandou", radius_km=25, rent_paid=Decimal("100.10"))
    assert found.produce[0] is Produce.BREAD


async def test_a_shape_is_stored_and_audited_under_its_own_names(
    host: Host, admin: asyncpg.Connection
):
    work = work_for(host, ORGANIZATION)
    stall = await work.add(full_stall())
    await work.finish()
    changing = work_for(host, ORGANIZATION)
    locked = await changing.lock(Stall, stall.id)
    locked.place = Place(town="Giyani", radius_km=1)
    await changing.save(locked)
    await changing.finish()

    text = await admin.fetchval("SELECT place::text FROM stalls.stall WHERE id = $1", stall.id)
    trail = await admin.fetch(
        "SELECT entry FROM stalls.audit_entry WHERE entry LIKE $1 ORDER BY id", f"%{stall.id}%"
    )

    assert '"radius_km": 1' in text
    assert '"rent_paid": "0.00"' in text
    assert '"place":{"town":"Thohoyandou","radius_km":25,"rent_paid":"100.10"}' in trail[0][0]
    assert '"after":{"place":{"town":"Giyani","radius_km":1,"rent_paid":"0.00"}' in trail[1][0]


async def test_a_field_of_a_newer_version_is_passed_over(host: Host, admin: asyncpg.Connection):
    work = work_for(host, ORGANIZATION)
    stall = await work.add(full_stall())
    await work.finish()
    await admin.execute(
        """UPDATE stalls.stall SET place = place || '{"of_tomorrow": 1}' WHERE id = $1""", stall.id
    )

    reading = work_for(host, ORGANIZATION)
    found = await reading.get(Stall, stall.id)
    await reading.close()

    assert found.place == stall.place


async def test_tables_and_classes_of_annotated_columns_agree(admin: asyncpg.Connection):
    swept = await sweep(admin, ["stalls"], [r for r in rows() if r.__table__.schema == "stalls"])

    print(f"tables={swept.tables} drifting={swept.drifting} faults={len(swept.faults)}")
    assert swept.faults == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "DROP INDEX stalls.stall_status_opens_on_by",
            "lacks the index organization_id, status, opens_on of its class",
        ),
        (
            "ALTER TABLE stalls.stall DROP CONSTRAINT stall_organization_id_code_once",
            "lacks the unique key organization_id, code of its class",
        ),
    ],
)
async def test_a_planted_option_without_a_migration_is_found(
    admin: asyncpg.Connection, statement: str, message: str
):
    planted = admin.transaction()
    await planted.start()
    await admin.execute(statement)

    swept = await sweep(admin, ["stalls"], [Stall])
    await planted.rollback()

    assert f"stalls.stall: {message}" in swept.faults


async def test_annotated_columns_work_in_statements(host: Host):
    work = work_for(host, ORGANIZATION)
    stall = await work.add(full_stall())

    found = await work.all(select(Stall).where(Stall.code == stall.code, Stall.places == 1))
    await work.close()

    assert [row.id for row in found] == [stall.id]


def test_types_and_nulls_follow_from_the_annotation():
    columns = Stall.__table__.c

    assert isinstance(columns.places.type, sa.BigInteger)
    assert (columns.landlord_id.nullable, columns.opens_on.nullable) == (True, False)
    assert Stall.__secret__ == {"pin"}
    assert Stall.__columns__[-2:] == ("pin", "next_check_at")
    with pytest.raises(TypeError, match=r"missing \{'opens_on'\}"):
        Stall(organization_id=ORGANIZATION, code="x")  # type: ignore[call-arg]  # planted


def test_a_class_keyword_that_names_no_column_raises():
    with pytest.raises(TypeError, match="Crooked: the table has no column sttaus"):

        class Crooked(TenantRow, table="stalls.crooked", kind=Kind.PRIVATE, indexes=[("sttaus",)]):
            """Planted."""

            status: Col[str]

    with pytest.raises(TypeError, match="no column next_check_at"):

        class Late(TenantRow, table="stalls.late", kind=Kind.PRIVATE, due=True):
            """Planted."""


def test_an_annotation_without_a_type_of_column_raises():
    with pytest.raises(NoColumnType, match="names no type of a column"):

        class Odd(TenantRow, table="stalls.odd", kind=Kind.PRIVATE):
            """Planted."""

            thing: Col[complex]

    with pytest.raises(TypeError, match=r"Quoted\.thing: write the annotation"):

        class Quoted(TenantRow, table="stalls.quoted", kind=Kind.PRIVATE):
            """Planted."""

            thing: "Col[str]" = col()
