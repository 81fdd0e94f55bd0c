"""Equipment: the smallest worked example, whole."""

from datetime import date
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import identity as people
from thenga.domains.organization.services.assets import expiries
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def path(owner: people.Member, rest: str = "") -> str:
    return f"/organizations/{owner.organization_id}/equipment{rest}"


async def add(api: httpx2.AsyncClient, owner: people.Member, **fields: Any) -> httpx2.Response:
    body = {"name": "Excavator", "quantity": 1} | fields
    return await api.post(path(owner), json=body, headers=owner.headers)


async def test_a_machine_is_recorded_and_read_again(api: httpx2.AsyncClient, owner: people.Member):
    made = await add(
        api,
        owner,
        name="Excavator 20 t",
        make="Bell",
        year=2019,
        serialNumber="BL-20-0001",
        expiries=[{"kind": "inspection", "expiresOn": "2199-03-01"}],
    )
    read = await api.get(path(owner, f"/{made.json()['id']}"), headers=owner.headers)

    assert made.status_code == 201
    assert read.json() == made.json()
    assert read.json()["expiries"][0]["state"] == "valid"
    assert [m["move"] for m in read.json()["allowedMoves"]] == ["assign", "maintain", "retire"]


async def test_a_serial_number_is_recorded_once_in_an_organization(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    other = await people.member(host, uuid4(), role="owner")
    first = await add(api, owner, serialNumber="S-1")

    twice = await add(api, owner, serialNumber="S-1")
    elsewhere = await add(api, other, serialNumber="S-1")

    assert (first.status_code, elsewhere.status_code) == (201, 201)
    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")


async def test_moves_follow_the_table_and_a_repeat_changes_nothing(
    api: httpx2.AsyncClient, owner: people.Member
):
    one = path(owner, f"/{(await add(api, owner)).json()['id']}")

    async def move(verb: str) -> httpx2.Response:
        return await api.post(f"{one}/{verb}", headers=owner.headers)

    assigned, again, refused = await move("assign"), await move("assign"), await move("maintain")
    released, maintained, returned = (
        await move("release"),
        await move("maintain"),
        await move("return"),
    )
    retired, after = await move("retire"), await move("assign")

    assert (assigned.json()["status"], assigned.json()["version"]) == ("in_use", 2)
    assert again.json() == assigned.json()
    assert (refused.status_code, refused.json()["allowed"]) == (409, ["release", "retire"])
    states = [a.json()["status"] for a in (released, maintained, returned, retired)]
    assert states == ["available", "maintenance", "available", "retired"]
    assert (after.status_code, after.json()["allowed"]) == (409, [])


async def test_only_the_fields_sent_change_and_null_empties(
    api: httpx2.AsyncClient, owner: people.Member
):
    made = await add(api, owner, category="earthmoving", make="Bell")

    changed = await api.patch(
        path(owner, f"/{made.json()['id']}"),
        json={"name": "Loader", "make": None},
        headers=owner.headers,
    )

    told = changed.json()
    assert (told["name"], told["make"], told["category"]) == ("Loader", None, "earthmoving")
    assert (told["quantity"], told["version"]) == (1, 2)


async def test_an_archived_machine_leaves_the_list_and_stays_readable(
    api: httpx2.AsyncClient, owner: people.Member
):
    made = await add(api, owner)
    one = path(owner, f"/{made.json()['id']}")

    gone = await api.delete(one, headers=owner.headers)
    listed = await api.get(path(owner), headers=owner.headers)
    archived = await api.get(path(owner) + "?archived=true", headers=owner.headers)
    moved = await api.post(f"{one}/assign", headers=owner.headers)

    assert gone.status_code == 204
    assert listed.json()["items"] == []
    assert [i["id"] for i in archived.json()["items"]] == [made.json()["id"]]
    assert (await api.get(one, headers=owner.headers)).status_code == 200
    assert moved.status_code == 409


@pytest.mark.parametrize("sort", ["createdAt", "-createdAt", "name", "-name", "nextExpiry"])
async def test_pages_show_every_machine_once_in_order(
    api: httpx2.AsyncClient, owner: people.Member, sort: str
):
    for n in range(7):
        days = [{"kind": "inspection", "expiresOn": f"2190-01-{n + 1:02}"}] if n % 2 else []
        await add(api, owner, name=f"Machine {n % 3}", expiries=days)

    seen: list[dict[str, Any]] = []
    target: str | None = f"{path(owner)}?limit=2&sort={sort}"
    pages = 0
    while target is not None:
        answer = await api.get(target, headers=owner.headers)
        seen += answer.json()["items"]
        pages += 1
        cursor = answer.json()["nextCursor"]
        target = cursor and f"{path(owner)}?limit=2&sort={sort}&cursor={cursor}"

    field = sort.removeprefix("-")
    values = [one[field] or "9999" for one in seen]
    assert (len({one["id"] for one in seen}), len(seen), pages) == (7, 7, 4)
    assert values == sorted(values, reverse=sort.startswith("-"))


async def test_a_cursor_works_for_its_own_list_and_caller_only(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    other = await people.member(host, owner.organization_id, role="owner")
    for _ in range(2):
        await add(api, owner)
    cursor = (await api.get(path(owner) + "?limit=1", headers=owner.headers)).json()["nextCursor"]

    async def use(query: str, who: people.Member) -> int:
        return (await api.get(path(owner) + query, headers=who.headers)).status_code

    assert await use(f"?limit=1&cursor={cursor}", owner) == 200
    assert await use(f"?limit=1&cursor={cursor}", other) == 400
    assert await use(f"?limit=1&sort=name&cursor={cursor}", owner) == 400
    assert await use(f"?limit=1&status=retired&cursor={cursor}", owner) == 400
    # Not at its end, whose last bits may stand for nothing.
    other_letter = "B" if cursor[20] == "A" else "A"
    forged = f"{cursor[:20]}{other_letter}{cursor[21:]}"
    assert await use(f"?limit=1&cursor={forged}", owner) == 400


@pytest.mark.parametrize(
    ("today", "state"),
    [
        ("2026-10-31", "valid"),
        ("2026-11-01", "expiring"),
        ("2026-12-31", "expiring"),
        ("2027-01-01", "expired"),
    ],
)
def test_certificate_is_expiring_sixty_days_before_its_end(today: str, state: str):
    paper = expiries.Expiry("inspection", date(2026, 12, 31))

    assert expiries.state_on(paper, date.fromisoformat(today)) == state
