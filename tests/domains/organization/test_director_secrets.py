"""What nobody may read of a director: numbers, what was erased, and what is another company's."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest
import structlog

from tests.canaries import sightings
from tests.domains.organization.directing import CHECK, SIPHO, add, added, listed, path
from tests.factories import identity as people
from tests.planting import plant
from thenga import topology
from thenga.domains.organization.services.records import masks
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def curator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_curator")


@pytest.mark.rule("ORG-16")
async def test_only_a_former_director_can_be_erased(
    api: httpx2.AsyncClient, owner: people.Member, settings: Settings
):
    surname = f"Canary{uuid4().hex}"
    one = await added(api, owner, surname=surname)
    particulars = {"institution": f"Office {surname}"}
    statement = {"flag": "publicServant", "value": "yes", "particulars": particulars}
    await api.patch(one, json={"flagStatement": statement}, headers=owner.headers)

    kept = await api.post(f"{one}/erase", headers=owner.headers)
    await api.post(f"{one}/resign", json={}, headers=owner.headers)
    erased = await api.post(f"{one}/erase", headers=owner.headers)
    again = await api.post(f"{one}/erase", headers=owner.headers)
    read = await api.get(one, headers=owner.headers)
    versions = (await api.get(f"{one}/versions", headers=owner.headers)).json()["items"]
    left = await sightings(settings, topology.DOMAINS, surname)

    assert (kept.status_code, kept.json()["code"]) == (409, "organization-kept-by-law")
    assert (erased.json()["outcome"], again.json()) == ("erased", erased.json())
    assert (read.status_code, await listed(api, owner, "?archived=true")) == (410, [])
    assert {(v["erased"], v["snapshot"]["surname"]) for v in versions} == {(True, None)}
    print(f"residual_rows={len(left)}")
    assert left == []


async def everywhere(
    api: httpx2.AsyncClient,
    owner: people.Member,
    curator: people.Person,
    settings: Settings,
    number: str,
) -> list[str]:
    """Post a number, use every operation of directors, and look where it can be read."""
    seen: list[str] = []
    with structlog.testing.capture_logs() as logs:
        keyed = owner.headers | {"Idempotency-Key": uuid4().hex}
        made = await api.post(path(owner), json=SIPHO | {"idNumber": number}, headers=keyed)
        one = path(owner, f"/{made.json()['id']}")
        again = await api.post(path(owner), json=SIPHO | {"idNumber": number}, headers=keyed)
        answers = [made, again]
        answers.append(await api.patch(one, json={"idNumber": number}, headers=owner.headers))
        answers.append(await add(api, owner, idNumber=number, shareholdingPercent=None))
        denied = {"verification": CHECK, "idNumber": number}
        answers.append(await api.patch(one, json=denied, headers=owner.headers))
        answers.append(await api.post(f"{one}/verify", json=CHECK, headers=curator.headers))
        for rest in ("", "/versions", "/versions/1"):
            answers.append(await api.get(one + rest, headers=owner.headers))
        answers.append(await api.get(path(owner), headers=owner.headers))
    seen += [f"answer {a.request.method} {a.request.url.path}" for a in answers if number in a.text]
    seen += [f"log {line['event']}" for line in logs if number in str(line)]
    return seen + await sightings(settings, topology.DOMAINS, number)


@pytest.mark.rule("ORG-14")
async def test_a_number_that_was_posted_is_found_nowhere(
    api: httpx2.AsyncClient,
    owner: people.Member,
    curator: people.Person,
    settings: Settings,
):
    found = await everywhere(api, owner, curator, settings, "7603011234188")

    print(f"id_canaries={len(found)}")
    assert found == []


async def test_a_planted_mask_that_shows_everything_is_found(
    api: httpx2.AsyncClient,
    owner: people.Member,
    curator: people.Person,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
):
    plant(monkeypatch, masks, "id_number", lambda number: number)

    found = await everywhere(api, owner, curator, settings, "8505054999081")

    assert {one.split()[0] for one in found} >= {"answer", "organization.director"}


async def test_foreign_directors_are_as_missing_ones(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    other = await people.member(host, uuid4(), role="owner")
    one = await added(api, owner)
    foreign = one.replace(str(owner.organization_id), str(other.organization_id))
    missing = path(other, f"/{uuid4()}")
    calls: list[tuple[str, str, Any]] = [
        ("GET", "", None),
        ("PATCH", "", {"surname": "X"}),
        ("PATCH", "", {"verification": CHECK}),
        ("DELETE", "", None),
        ("GET", "/versions", None),
        ("GET", "/versions/1", None),
        ("POST", "/resign", {}),
        ("POST", "/reappoint", {}),
        ("POST", "/verify", CHECK),
        ("POST", "/erase", None),
    ]

    for method, rest, body in calls:
        answers = [
            await api.request(method, p + rest, json=body, headers=other.headers)
            for p in (foreign, missing)
        ]
        told = [{**a.json(), "requestId": "", "instance": ""} for a in answers]
        assert told[0] == told[1]
        assert answers[0].status_code == 404
    print(f"foreign_paths={len(calls)} differences=0")
