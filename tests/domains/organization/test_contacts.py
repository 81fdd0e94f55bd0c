"""Contacts: whom to reach, one that counts of each kind, and erasing that leaves nothing."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.canaries import sightings
from tests.factories import identity as people
from tests.planting import plant
from thenga import topology
from thenga.domains.organization.services.records import sealed_values
from thenga.domains.organization.tables import Contact
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

THANDI = {
    "kind": "bids",
    "name": "Thandi Nkosi",
    "position": "Bid administrator",
    "email": "thandi@mokoena.example",
    "phone": "082 123 4567",
}


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def path(owner: people.Member, rest: str = "") -> str:
    return f"/organizations/{owner.organization_id}/contacts{rest}"


async def add(api: httpx2.AsyncClient, owner: people.Member, **fields: Any) -> httpx2.Response:
    return await api.post(path(owner), json=THANDI | fields, headers=owner.headers)


async def listed(api: httpx2.AsyncClient, owner: people.Member, query: str = "") -> list[Any]:
    found = await api.get(path(owner) + query, headers=owner.headers)
    items: list[Any] = found.json()["items"]
    return items


async def test_a_contact_is_recorded_changed_and_archived(
    api: httpx2.AsyncClient, owner: people.Member
):
    made = await add(api, owner)
    one = path(owner, f"/{made.json()['id']}")

    read = await api.get(one, headers=owner.headers)
    moved = await api.patch(one, json={"phone": "+27 11 555 0100"}, headers=owner.headers)
    gone = await api.delete(one, headers=owner.headers)
    first = (await api.get(f"{one}/versions/1", headers=owner.headers)).json()
    versions = (await api.get(f"{one}/versions?sort=version", headers=owner.headers)).json()[
        "items"
    ]

    assert (made.status_code, read.json()) == (201, made.json())
    assert (made.json()["phone"], moved.json()["phone"]) == ("+27821234567", "+27115550100")
    assert (gone.status_code, await listed(api, owner)) == (204, [])
    assert [c["status"] for c in await listed(api, owner, "?status=archived")] == ["archived"]
    assert first["snapshot"]["name"] == THANDI["name"]
    assert (first["snapshot"]["phone"], first["erased"]) == ("+27821234567", False)
    assert [v["changedFields"] for v in versions[1:]] == [["phone"], ["archivedAt"]]


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"email": None, "phone": None}, 422, "rule-violated"),
        ({"phone": "12"}, 422, "validation-failed"),
        ({"phone": "not a number"}, 422, "rule-violated"),
        ({"userId": str(uuid4())}, 422, "organization-unknown-membership"),
        ({"email": None}, 201, None),
        ({"phone": None}, 201, None),
    ],
)
async def test_a_contact_can_be_reached(
    api: httpx2.AsyncClient, owner: people.Member, fields: dict[str, Any], status: int, code: str
):
    answer = await add(api, owner, **fields)

    assert (answer.status_code, answer.json().get("code")) == (status, code)


async def test_an_address_is_recorded_once_for_each_kind(
    api: httpx2.AsyncClient, owner: people.Member
):
    first = await add(api, owner)
    twice = await add(api, owner, email="THANDI@mokoena.example")
    other = await add(api, owner, kind="finance")
    await api.delete(path(owner, f"/{first.json()['id']}"), headers=owner.headers)
    again = await add(api, owner)

    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert (other.status_code, again.status_code) == (201, 201)


async def test_of_parallel_primaries_exactly_one_stays(
    api: httpx2.AsyncClient, owner: people.Member
):
    sent = await asyncio.gather(
        *(add(api, owner, email=f"p{n}@mokoena.example", primary=True) for n in range(8))
    )

    found = len(await listed(api, owner, "?primary=true&kind=bids"))
    print(f"parallel_primaries=8 primaries={found}")
    assert {answer.status_code for answer in sent} == {201}
    assert found == 1


async def test_contacts_are_listed_by_name(api: httpx2.AsyncClient, owner: people.Member):
    for name in ("Zanele", "Anna", "Mpho"):
        await add(api, owner, name=name, email=f"{name}@mokoena.example")

    assert [c["name"] for c in await listed(api, owner, "?sort=name")] == ["Anna", "Mpho", "Zanele"]


async def erased(api: httpx2.AsyncClient, owner: people.Member) -> tuple[str, str]:
    """The path of a contact that was added, changed and erased, and the name it had."""
    name = f"Thandi {uuid4().hex}"
    made = await add(api, owner, name=name, email=f"{name[7:]}@mokoena.example")
    one = path(owner, f"/{made.json()['id']}")
    await api.patch(one, json={"position": "Bids"}, headers=owner.headers)
    await api.post(f"{one}/erase", headers=owner.headers)
    return one, name


@pytest.mark.rule("ORG-16")
async def test_erasing_leaves_nothing_of_the_person_in_any_version(
    api: httpx2.AsyncClient, owner: people.Member, settings: Settings
):
    one, name = await erased(api, owner)

    receipt = await api.post(f"{one}/erase", headers=owner.headers)
    read = await api.get(one, headers=owner.headers)
    versions = (await api.get(f"{one}/versions?sort=version", headers=owner.headers)).json()[
        "items"
    ]
    left = await sightings(settings, topology.DOMAINS, name, name[7:])

    print(f"residual_rows={len(left)}")
    assert (receipt.status_code, receipt.json()["outcome"]) == (200, "erased")
    assert (read.status_code, read.json()["code"]) == (410, "erased")
    assert {v["erased"] for v in versions} == {True}
    assert {(v["snapshot"]["name"], v["snapshot"]["email"]) for v in versions} == {(None, None)}
    assert [v["snapshot"]["kind"] for v in versions] == ["bids"] * 3
    assert await listed(api, owner, "?archived=true") == []
    assert left == []


async def test_a_planted_erasure_that_keeps_the_key_is_found(
    api: httpx2.AsyncClient, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    async def keep(work: Any, subject: Any) -> bool:
        return False

    plant(monkeypatch, sealed_values, "destroy", keep)
    one, name = await erased(api, owner)

    versions = (await api.get(f"{one}/versions?sort=version", headers=owner.headers)).json()[
        "items"
    ]

    assert versions[0]["snapshot"]["name"] == name


async def test_a_planted_column_that_is_not_secret_is_found(
    api: httpx2.AsyncClient,
    owner: people.Member,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(Contact, "__secret__", Contact.__secret__ - {"name"})

    _, name = await erased(api, owner)

    left = await sightings(settings, topology.DOMAINS, name)
    assert {"organization.audit_entry", "organization.record_version"} <= set(left)
