"""Categories over HTTP: staff write them, every tenant reads them."""

from typing import Any

import httpx2
import pytest

from tests.domains.supplier.desks import Desk, desk
from tests.factories import identity as people
from tests.factories.identity import Person
from thenga.kernel.process.host import Host

PATH = "/marketplace/categories"
BUILDING: dict[str, Any] = {
    "code": "building",
    "names": {"en": "Building works", "zu": "Imisebenzi yokwakha"},
    "unspscPrefixes": ["72"],
    "cidbClasses": ["GB"],
}


@pytest.fixture
async def curator(host: Host, seeded: None) -> Person:
    return await people.staff(host, "platform_curator")


async def add(api: httpx2.AsyncClient, who: Person, **body: Any) -> httpx2.Response:
    return await api.post(PATH, json=BUILDING | body, headers=who.headers)


async def test_staff_keep_two_levels_of_categories(
    api: httpx2.AsyncClient, host: Host, curator: Person
) -> None:
    top = await add(api, curator)
    assert top.status_code == 201, top.text
    above = top.json()["id"]
    below = await add(api, curator, code="plumbing", names={"en": "Plumbing"}, parentId=above)
    deeper = await add(api, curator, code="taps", parentId=below.json()["id"])
    nowhere = await add(api, curator, code="taps", parentId="019a0000-0000-7000-8000-0000000ca7e1")
    twice = await add(api, curator)

    assert below.status_code == 201, below.text
    assert deeper.json()["code"] == "marketplace-category-depth"
    assert nowhere.json()["code"] == "marketplace-category-unknown"
    assert (twice.status_code, twice.json()["existing"]["id"]) == (409, above)

    changed = await api.patch(
        f"{PATH}/{above}", json={"names": {"en": "Building"}}, headers=curator.headers
    )
    assert changed.json()["names"]["en"] == "Building"
    moved = await api.patch(f"{PATH}/{above}", json={"parentId": above}, headers=curator.headers)
    assert moved.status_code == 422

    tenant = await desk(api, host, "Mokoena Plant Hire")
    listed = await api.get(PATH, headers=tenant.who.acting)
    assert [row["code"] for row in listed.json()["items"]] == ["building", "plumbing"]
    children = await api.get(PATH, params={"parentId": above}, headers=tenant.who.acting)
    assert [row["code"] for row in children.json()["items"]] == ["plumbing"]
    one = await api.get(f"{PATH}/{above}", headers=tenant.who.acting)
    assert one.json() == changed.json()


async def test_only_staff_write_categories(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    tenant: Desk = await desk(api, host, "Mokoena Plant Hire")
    helper = await people.staff(host, "platform_support")
    assert (await api.post(PATH, json=BUILDING, headers=tenant.who.acting)).status_code == 403
    assert (await add(api, helper)).status_code == 404
