"""Addresses: what a place in South Africa must say, and the one that counts of each kind."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import identity as people
from tests.planting import plant
from thenga.domains.organization.services.people import primaries
from thenga.kernel.process.host import Host

HERE = {
    "kind": "physical",
    "line1": "12 Voortrekker Street",
    "city": "Vanderbijlpark",
    "postalCode": "1911",
    "province": "GP",
    "municipalityCode": "GT421",
}


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def path(owner: people.Member, rest: str = "") -> str:
    return f"/organizations/{owner.organization_id}/addresses{rest}"


async def add(api: httpx2.AsyncClient, owner: people.Member, **fields: Any) -> httpx2.Response:
    return await api.post(path(owner), json=HERE | fields, headers=owner.headers)


async def listed(api: httpx2.AsyncClient, owner: people.Member, query: str = "") -> list[Any]:
    found = await api.get(path(owner) + query, headers=owner.headers)
    items: list[Any] = found.json()["items"]
    return items


async def test_an_address_is_recorded_changed_and_archived(
    api: httpx2.AsyncClient, owner: people.Member
):
    geo = {"lat": -26.7, "lon": 27.83, "source": "device"}
    evidence = {"domain": "compliance", "type": "document", "id": str(uuid4())}
    made = await add(api, owner, geo=geo, evidenceRefs=[evidence], registeredOffice=True)
    one = path(owner, f"/{made.json()['id']}")

    read = await api.get(one, headers=owner.headers)
    moved = await api.patch(one, json={"line1": "14 Frikkie Meyer"}, headers=owner.headers)
    gone = await api.delete(one, headers=owner.headers)
    after = await api.patch(one, json={"line1": "elsewhere"}, headers=owner.headers)
    first = await api.get(f"{one}/versions/1", headers=owner.headers)
    versions = await api.get(f"{one}/versions", headers=owner.headers)

    assert (made.status_code, read.json()) == (201, made.json())
    assert (made.json()["geo"], made.json()["evidenceRefs"]) == (geo, [evidence])
    assert (moved.json()["version"], moved.json()["city"]) == (2, "Vanderbijlpark")
    assert (gone.status_code, after.status_code) == (204, 409)
    assert await listed(api, owner) == []
    assert [a["id"] for a in await listed(api, owner, "?archived=true")] == [made.json()["id"]]
    assert first.json()["snapshot"]["line1"] == HERE["line1"]
    assert [v["version"] for v in versions.json()["items"]] == [3, 2, 1]


@pytest.mark.rule("ORG-18")
@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"municipalityCode": "EC101"}, 422, "organization-municipality-mismatch"),
        ({"municipalityCode": "GT999"}, 422, "organization-municipality-mismatch"),
        ({"municipalityCode": None}, 422, "rule-violated"),
        ({"province": None}, 422, "rule-violated"),
        ({"postalCode": "19111"}, 422, "rule-violated"),
        ({"validFrom": "2026-02-01", "validTo": "2026-01-01"}, 422, "rule-violated"),
        ({"kind": "postal", "municipalityCode": None, "province": None}, 201, None),
        ({"country": "BW", "municipalityCode": None, "province": None}, 201, None),
        ({"municipalityCode": "JHB"}, 201, None),
    ],
)
async def test_an_address_names_a_municipality_of_its_province(
    api: httpx2.AsyncClient, owner: people.Member, fields: dict[str, Any], status: int, code: str
):
    answer = await add(api, owner, **fields)

    assert (answer.status_code, answer.json().get("code")) == (status, code)


@pytest.mark.rule("ORG-18")
async def test_a_box_as_a_place_is_recorded_with_a_warning(
    api: httpx2.AsyncClient, owner: people.Member
):
    box = await add(api, owner, line1="P.O. Box 12")
    postal = await add(api, owner, kind="postal", line1="PO Box 12")

    assert [w["code"] for w in box.json()["warnings"]] == ["po_box_as_place"]
    assert postal.json()["warnings"] == []


async def primaries_of(api: httpx2.AsyncClient, owner: people.Member) -> int:
    """How many are primary after eight were sent at once."""
    sent = await asyncio.gather(
        *(add(api, owner, line1=f"{n} Long Street", primary=True) for n in range(8))
    )
    assert {answer.status_code for answer in sent} <= {201, 409}
    return len(await listed(api, owner, "?primary=true&kind=physical"))


@pytest.mark.rule("ORG-18")
async def test_of_parallel_primaries_exactly_one_stays(
    api: httpx2.AsyncClient, owner: people.Member
):
    found = await primaries_of(api, owner)

    print(f"parallel_primaries=8 primaries={found}")
    assert found == 1


async def test_a_new_primary_takes_the_mark_and_both_changes_are_told(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    first = (await add(api, owner, primary=True)).json()
    second = (await add(api, owner)).json()

    marked = await api.patch(
        path(owner, f"/{second['id']}"), json={"primary": True}, headers=owner.headers
    )
    async with host.engines.connection("organization", "organization_system") as connection:
        told = await connection.fetch(
            "SELECT aggregate FROM organization.outbox WHERE organization_id = $1 "
            "ORDER BY position",
            owner.organization_id,
        )

    assert marked.json()["primary"]
    assert [a["id"] for a in await listed(api, owner, "?primary=true")] == [second["id"]]
    expected = [first["id"], second["id"], first["id"], second["id"]]
    assert [row["aggregate"] for row in told] == [f"address/{one}" for one in expected]


async def test_planted_second_primary_is_refused_by_the_index(
    api: httpx2.AsyncClient, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    async def at_once(work: Any, row: Any) -> None:
        return None

    async def from_nobody(work: Any, holder: Any, row: Any) -> None:
        return None

    plant(monkeypatch, primaries, "in_turn", at_once)
    plant(monkeypatch, primaries, "take_from", from_nobody)
    first = await add(api, owner, primary=True)
    second = await add(api, owner, primary=True)

    assert (first.status_code, second.status_code) == (201, 409)
    assert len(await listed(api, owner, "?primary=true")) == 1


def counted(lines: list[dict[str, str]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in lines:
        found[line["category"]] = found.get(line["category"], 0) + 1
    return found


async def everything(api: httpx2.AsyncClient, headers: dict[str, str]) -> list[dict[str, str]]:
    lines: list[dict[str, str]] = []
    cursor = ""
    while True:
        url = f"/organization-catalogues/municipalities?limit=200{cursor}"
        answer = (await api.get(url, headers=headers)).json()
        lines += answer["items"]
        if answer["nextCursor"] is None:
            return lines
        cursor = f"&cursor={answer['nextCursor']}"


@pytest.mark.rule("ORG-18")
async def test_the_catalogue_lists_every_municipality(
    api: httpx2.AsyncClient, owner: people.Member
):
    lines = await everything(api, owner.headers)
    districts = {line["code"]: line["province"] for line in lines if line["category"] == "district"}

    found = counted(lines)
    print(f"metros={found['metro']} districts={found['district']} locals={found['local']}")
    assert found == {"metro": 8, "district": 44, "local": 205}
    of_district = [line for line in lines if line["districtCode"]]
    assert {districts[one["districtCode"]] == one["province"] for one in of_district} == {True}


async def test_municipalities_are_found_by_province_name_and_code(
    api: httpx2.AsyncClient, owner: people.Member
):
    async def codes(query: str) -> list[str]:
        url = f"/organization-catalogues/municipalities?{query}"
        found = (await api.get(url, headers=owner.headers)).json()["items"]
        return [one["code"] for one in found]

    assert len(await codes("province=GP")) == 11
    assert await codes("q=fuleni") == ["GT421"]
    assert await codes("q=ec10&province=EC&sort=-code") == [
        *("EC109", "EC108", "EC106", "EC105", "EC104", "EC102", "EC101"),
    ]
    assert await codes("q=%25") == []
