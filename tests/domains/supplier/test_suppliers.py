"""Suppliers over HTTP: a company's own one, and the external ones of a customer."""

import asyncio
from collections import Counter
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.conftest import Silence
from tests.domains.supplier.desks import Desk
from tests.factories import supplier as factory
from tests.factories.supplier import CATEGORY, EXTERNAL, OWN
from thenga.domains.organization.public import Profiles
from thenga.domains.supplier.services import suppliers
from thenga.kernel.process.host import Host


def without(problem: Any, *names: str) -> dict[str, Any]:
    return {name: value for name, value in problem.items() if name not in names}


async def test_a_supplier_is_changed_and_taken_out_of_use(mine: Desk) -> None:
    made = await mine.made(**EXTERNAL)

    changed = await mine.patch(
        made["id"],
        name="Kagiso Concrete",
        note="New owner since March.",
        acceptsQuoteRequests=False,
    )
    gone = await mine.patch(made["id"], move="deactivate")
    again = await mine.patch(made["id"], move="deactivate")
    back = await mine.patch(made["id"], move="reactivate")

    assert changed.json()["name"] == "Kagiso Concrete"
    assert changed.json()["contact"] == made["contact"]
    assert gone.json()["status"] == "inactive"
    assert again.json()["version"] == gone.json()["version"]
    assert (back.json()["status"], back.json()["version"]) == ("active", 4)
    events = await mine.events()
    assert [(name, data["status"]) for name, data in events] == [
        ("SupplierRegistered", "active"),
        ("SupplierChanged", "active"),
        ("SupplierChanged", "inactive"),
        ("SupplierChanged", "active"),
    ]


async def test_suppliers_are_listed_by_kind_status_and_name(mine: Desk) -> None:
    own = await mine.made(**OWN)
    pipes = await mine.made(**EXTERNAL)
    steel = await mine.made(kind="external", name="Sizwe Steel", categoryIds=[str(CATEGORY)])
    await mine.patch(pipes["id"], move="deactivate")

    assert await mine.ids() == [steel["id"], pipes["id"], own["id"]]
    assert await mine.ids(kind="own") == [own["id"]]
    assert await mine.ids(status="inactive") == [pipes["id"]]
    assert await mine.ids(categoryId=str(CATEGORY)) == [steel["id"], own["id"]]
    assert await mine.ids(q="STEEL") == [steel["id"]]
    assert await mine.ids(sort="createdAt", limit=1) == [own["id"]]


@pytest.mark.rule("SUP-1")
async def test_an_own_supplier_shows_its_company(mine: Desk) -> None:
    made = await mine.made(**OWN)

    found = await mine.read(made["id"])
    assert found["profile"]["state"] == "live"
    assert found["profile"]["displayName"] == "Mokoena Plant Hire"
    assert (found["name"], found["status"], found["kind"]) == (None, "active", "own")
    assert found["organizationId"] == str(mine.who.organization_id)
    assert [move["move"] for move in found["allowedMoves"]] == ["deactivate"]


@pytest.mark.rule("SUP-1")
async def test_everybody_reads_an_own_supplier_and_moves_none(mine: Desk, theirs: Desk) -> None:
    made = await mine.made(**OWN)

    found = await theirs.read(made["id"])
    moved = await theirs.patch(made["id"], move="deactivate")

    assert found["profile"]["displayName"] == "Mokoena Plant Hire"
    assert found["allowedMoves"] == []
    assert moved.status_code == 404
    assert await theirs.ids() == []


@pytest.mark.rule("SUP-1")
async def test_a_silent_profile_is_shown_as_unavailable(mine: Desk, silence: Silence) -> None:
    made = await mine.made(**OWN)
    silence(Profiles)

    found = await mine.read(made["id"])
    (listed,) = (await mine.get()).json()["items"]

    assert found["profile"]["state"] == "unavailable"
    assert found["profile"]["displayName"] is None
    assert found["areas"]["provinces"] == ["GP"]
    assert listed["profile"] == found["profile"]


@pytest.mark.rule("SUP-1")
async def test_a_company_registers_itself_once(mine: Desk) -> None:
    answers = await asyncio.gather(*(mine.post(**OWN) for _ in range(10)))

    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 9}
    (made,) = (answer.json() for answer in answers if answer.status_code == 201)
    existing = [answer.json()["existing"] for answer in answers if answer.status_code == 409]
    assert [found["id"] for found in existing] == [made["id"]] * 9
    assert [name for name, _ in await mine.events()] == ["SupplierRegistered"]


@pytest.mark.rule("SUP-1")
async def test_an_own_supplier_has_no_name_of_its_own(mine: Desk, host: Host) -> None:
    refused = await mine.post(**OWN, name="Mokoena")
    made = await mine.made(**OWN)
    changed = await mine.patch(made["id"], note="Ours")
    emptied = await mine.patch(made["id"], note=None)

    assert (refused.status_code, refused.json()["field"]) == (422, "/name")
    assert (changed.status_code, changed.json()["field"]) == (422, "/note")
    assert emptied.status_code == 200
    async with host.engines.connection("supplier", "supplier_system") as connection:
        with pytest.raises(asyncpg.CheckViolationError):
            await connection.execute(
                "UPDATE supplier.supplier SET name = 'Mokoena' WHERE id = $1", UUID(made["id"])
            )


@pytest.mark.rule("SUP-2")
async def test_an_external_supplier_is_read_by_its_customer_alone(mine: Desk, theirs: Desk) -> None:
    made = await mine.made(**EXTERNAL)
    missing = uuid4()

    found, kept = await mine.read(made["id"]), await mine.ids(kind="external")
    stranger = await theirs.get(f"/{made['id']}")
    nobody = await theirs.get(f"/{missing}")
    changed = await theirs.patch(made["id"], note="Read")

    assert (found["name"], found["contact"]["name"]) == ("Kagiso Pipes", "Nomsa Dube")
    assert found["profile"] is None
    assert kept == [made["id"]]
    assert (stranger.status_code, changed.status_code) == (404, 404)
    own = ("instance", "requestId")
    assert without(stranger.json(), *own) == without(nobody.json(), *own)
    assert await theirs.ids() == []


@pytest.mark.rule("SUP-2")
async def test_two_customers_state_one_supplier_apart(mine: Desk, theirs: Desk) -> None:
    first = await mine.made(**EXTERNAL)
    second = await theirs.made(**EXTERNAL | {"note": "Never in time."})

    assert first["id"] != second["id"]
    assert (await mine.read(first["id"]))["note"] == EXTERNAL["note"]
    data = str([*await mine.events(), *await theirs.events()])
    assert not any(text in data for text in ("Kagiso", "2014/123456/07", "Nomsa", "Never"))


@pytest.mark.rule("SUP-2")
async def test_a_name_is_registered_once_in_any_case(mine: Desk) -> None:
    first = await mine.made(**EXTERNAL)
    second = await mine.made(kind="external", name="Sizwe Steel")

    again = await mine.post(kind="external", name="KAGISO pipes")
    renamed = await mine.patch(second["id"], name="kagiso Pipes")
    unnamed = await mine.post(kind="external")
    emptied = await mine.patch(second["id"], name=None)

    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert again.json()["existing"]["id"] == first["id"]
    assert (renamed.status_code, renamed.json()["code"]) == (409, "duplicate")
    assert [answer.json()["field"] for answer in (unnamed, emptied)] == ["/name", "/name"]
    assert (await mine.read(second["id"]))["name"] == "Sizwe Steel"


@pytest.mark.rule("SUP-2")
async def test_planted_readers_of_external_suppliers_are_found(
    mine: Desk, theirs: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database refuses an external supplier that everybody would read."""
    of = suppliers.Supplier.of

    def shared(given: Any, **more: Any) -> Any:
        return of(given, **more | {"shared": True})

    monkeypatch.setattr(suppliers.Supplier, "of", shared)

    with pytest.raises(asyncpg.CheckViolationError):
        await factory.supplier(mine.host, mine.who.organization_id)


async def test_a_stale_version_changes_nothing(mine: Desk) -> None:
    made = await mine.made(**EXTERNAL)
    await mine.patch(made["id"], note="Newer")

    headers = mine.who.acting | {"If-Match": '"1"'}
    stale = await mine.api.patch(
        f"/suppliers/{made['id']}", json={"note": "Older"}, headers=headers
    )

    assert (stale.status_code, stale.json()["code"]) == (412, "stale-version")
    assert (await mine.read(made["id"]))["note"] == "Newer"
