"""Procurement preferences: one document, replaced whole, every version kept."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from starlette.applications import Starlette

from tests.factories import identity as people
from tests.factories import organization as companies
from tests.planting import plant, together
from tests.through_json import through_json
from thenga.domains.organization import public
from thenga.domains.organization.provider import LocalPreferences
from thenga.domains.organization.services.offers import procurement_preferences
from thenga.domains.organization.services.records import records
from thenga.domains.organization.tables import Capability
from thenga.kernel.db.work import Work
from thenga.kernel.http.port_routes import routes
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.ports.remote import remote
from thenga.kernel.process.host import Host

WANTED = {
    "categories": [{"scheme": "unspsc", "code": "72141003"}],
    "keywords": ["road resealing", "Stormwater"],
    "excludedKeywords": ["catering"],
    "provinces": ["GP", "FS"],
    "municipalities": ["GT421", "JHB"],
    "valueBand": {"min": {"amount": "500000", "currency": "ZAR"}, "max": None},
    "cidb": [{"class": "CE", "minGrade": 3, "maxGrade": 5}],
    "buyerTypes": ["municipality"],
    "methods": ["open"],
    "compulsoryBriefings": "nearby_only",
    "noticePeriodDays": 10,
    "maxConcurrentBids": 4,
    "minMatchScore": 60,
    "quietTopics": ["billing.renewal"],
}


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def path(owner: people.Member, rest: str = "") -> str:
    return f"/organizations/{owner.organization_id}/procurement-preferences{rest}"


async def put(
    api: httpx2.AsyncClient, owner: people.Member, body: dict[str, Any], *, seen: int
) -> httpx2.Response:
    headers = owner.headers | {"If-Match": f'"{seen}"'}
    return await api.put(path(owner), json=body, headers=headers)


async def told(host: Host, owner: people.Member) -> int:
    async with host.engines.connection("organization", "organization_system") as connection:
        found: int = await connection.fetchval(
            "SELECT count(*) FROM organization.outbox WHERE aggregate = $1",
            f"preferences/{owner.organization_id}",
        )
    return found


async def test_before_the_first_document_the_defaults_are_version_zero(
    api: httpx2.AsyncClient, owner: people.Member
):
    read = await api.get(path(owner), headers=owner.headers)

    assert (read.status_code, read.headers["etag"][:3]) == (200, '"0-')
    assert read.json()["version"] == 0
    assert (read.json()["noticePeriodDays"], read.json()["minMatchScore"]) == (7, 50)
    assert read.json()["valueBand"] == {"min": None, "max": None}


async def test_a_document_is_kept_whole_and_read_again(
    api: httpx2.AsyncClient, owner: people.Member
):
    made = await put(api, owner, WANTED, seen=0)
    read = await api.get(path(owner), headers=owner.headers)

    assert (made.status_code, made.json()["version"]) == (200, 1)
    assert read.json() == made.json()
    shown = read.json()
    assert shown["provinces"] == ["FS", "GP"]
    assert shown["valueBand"]["min"] == {"amount": "500000.00", "currency": "ZAR"}
    assert shown["cidb"] == [{"class": "CE", "minGrade": 3, "maxGrade": 5}]


async def test_put_resets_missing_fields_to_their_defaults(
    api: httpx2.AsyncClient, owner: people.Member
):
    await put(api, owner, WANTED, seen=0)
    replaced = await put(api, owner, {"keywords": ["bridges"]}, seen=1)

    shown = replaced.json()
    assert (shown["keywords"], shown["provinces"], shown["minMatchScore"]) == (["bridges"], [], 50)


async def race(api: httpx2.AsyncClient, host: Host, owner: people.Member) -> dict[str, Any]:
    """Must show 13, as figures."""
    without = await api.put(path(owner), json=WANTED, headers=owner.headers)
    first = await put(api, owner, WANTED, seen=0)
    bodies = [WANTED | {"minMatchScore": 70}, WANTED | {"noticePeriodDays": 14}]
    both = await asyncio.gather(*(put(api, owner, body, seen=1) for body in bodies))
    lost = [answer.json() for answer in both if answer.status_code == 412]
    before = await told(host, owner)
    version = (await api.get(path(owner), headers=owner.headers)).json()["version"]
    won = next(b for b, answer in zip(bodies, both, strict=True) if answer.status_code == 200)
    same = won | {"provinces": ["FS", "GP", "FS"]}  # the same set in another writing
    equal = await put(api, owner, same, seen=version)
    return {
        "without": (without.status_code, without.json()["code"]),
        "first": (first.status_code, first.json().get("version")),
        "both": sorted(answer.status_code for answer in both),
        "named": [(one["currentVersion"], one["changedFields"]) for one in lost],
        "equal": (equal.status_code, equal.json()["version"] - version),
        "told": (before, await told(host, owner) - before),
    }


@pytest.mark.rule("ORG-29")
async def test_stale_writer_is_refused_with_the_changed_fields(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    seen = await race(api, host, owner)

    print(f"preferences_writers=2 won={seen['both'].count(200)} stale={seen['both'].count(412)}")
    assert seen["without"] == (428, "precondition-required")
    assert seen["first"] == (200, 1)
    assert seen["both"] == [200, 412]
    assert seen["named"] in ([(2, ["minMatchScore"])], [(2, ["noticePeriodDays"])])
    assert seen["equal"] == (200, 0)
    assert seen["told"] == (2, 0)


async def test_planted_document_in_written_order_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    monkeypatch: pytest.MonkeyPatch,
):
    plant(monkeypatch, procurement_preferences, "settled", _as_sent)

    seen = await race(api, host, owner)

    assert seen["equal"] == (200, 1)
    assert seen["told"][1] == 1


def _as_sent(wanted: public.PreferenceSet) -> dict[str, Any]:
    return wanted.model_dump(mode="json", by_alias=True)


@pytest.mark.rule("ORG-29")
async def test_two_first_writers_do_not_overwrite_each_other(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    bodies = [{"keywords": [f"word {n}"]} for n in range(6)]

    answers = await asyncio.gather(*(put(api, owner, body, seen=0) for body in bodies))

    codes = sorted(answer.status_code for answer in answers)
    assert codes == [200, 412, 412, 412, 412, 412]
    assert {tuple(a.json()["changedFields"]) for a in answers if a.status_code == 412} == {
        ("keywords",)
    }
    assert await told(host, owner) == 1


async def test_a_planted_put_that_waits_for_nobody_is_found(
    api: httpx2.AsyncClient, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    look, all_looked = procurement_preferences.current_preferences, together(6)

    async def at_once(*_: object) -> None:
        return None

    async def look_and_wait(work: Work) -> Any:
        held = await look(work)
        await all_looked()
        return held

    plant(monkeypatch, records, "in_turn", at_once)
    plant(monkeypatch, procurement_preferences, "current_preferences", look_and_wait)
    bodies = [{"keywords": [f"word {n}"]} for n in range(6)]

    answers = await asyncio.gather(*(put(api, owner, body, seen=0) for body in bodies))

    assert any("changedFields" not in a.json() for a in answers if a.status_code != 200)


@pytest.mark.rule("ORG-29")
@pytest.mark.parametrize(
    "wrong",
    [
        {"keywords": ["Roads"], "excludedKeywords": ["roads"]},
        {"national": True, "provinces": ["GP"]},
        {"national": True, "municipalities": ["JHB"]},
        {
            "valueBand": {
                "min": {"amount": "2.00", "currency": "ZAR"},
                "max": {"amount": "1.00", "currency": "ZAR"},
            }
        },
        {
            "valueBand": {
                "min": {"amount": "1.00", "currency": "ZAR"},
                "max": {"amount": "2.00", "currency": "USD"},
            }
        },
        {"cidb": [{"class": "GB", "minGrade": 5, "maxGrade": 4}]},
    ],
)
async def test_what_nobody_could_follow_is_refused(
    api: httpx2.AsyncClient, owner: people.Member, wrong: dict[str, Any]
):
    refused = await put(api, owner, wrong, seen=0)

    assert (refused.status_code, refused.json()["code"]) == (422, "rule-violated")
    assert refused.json()["rule"] == "ORG-29"


async def test_each_version_stays_with_what_it_changed(
    api: httpx2.AsyncClient, owner: people.Member
):
    await put(api, owner, WANTED, seen=0)
    await put(api, owner, WANTED | {"minMatchScore": 80, "methods": []}, seen=1)

    listed = (await api.get(path(owner, "/versions?sort=version"), headers=owner.headers)).json()[
        "items"
    ]
    second = (await api.get(path(owner, "/versions/2"), headers=owner.headers)).json()
    none = await api.get(path(owner, "/versions/3"), headers=owner.headers)

    assert [one["version"] for one in listed] == [1, 2]
    assert second == listed[1]
    assert second["changes"] == [
        {"field": "methods", "before": ["open"], "after": []},
        {"field": "minMatchScore", "before": 60, "after": 80},
    ]
    assert (second["document"]["minMatchScore"], second["actorId"]) == (80, str(owner.user_id))
    assert none.status_code == 404


async def test_a_topic_that_cannot_be_silenced_is_warned_of(
    api: httpx2.AsyncClient, owner: people.Member
):
    made = await put(api, owner, {"quietTopics": ["security", "marketing"]}, seen=0)

    assert [w["code"] for w in made.json()["warnings"]] == ["cannot_be_silenced"]


async def test_a_grade_above_the_one_held_is_warned_of(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    work = companies.working(host, owner.user_id, owner.organization_id)
    claimed = Capability(
        organization_id=owner.organization_id,
        title="Civil works",
        cidb={"designation": "5CE"},
        cidb_class="CE",
    )
    await records.add(work, claimed)
    await work.finish()

    def wanting(grade: int) -> dict[str, Any]:
        return {"cidb": [{"class": "CE", "minGrade": 3, "maxGrade": grade}]}

    held = await put(api, owner, wanting(5), seen=0)
    above = await put(api, owner, wanting(6), seen=1)

    assert held.json()["warnings"] == []
    assert [(w["code"], w["detail"]) for w in above.json()["warnings"]] == [
        ("above_held_grade", "The company holds grade 5 in CE.")
    ]


async def test_codes_that_no_catalogue_has_are_refused(
    api: httpx2.AsyncClient, owner: people.Member
):
    nowhere = await put(api, owner, {"municipalities": ["JHB", "ZZ999"]}, seen=0)
    nothing = await put(api, owner, {"categories": [{"scheme": "unspsc", "code": "1"}]}, seen=0)

    assert nowhere.json()["code"] == "organization-municipality-mismatch"
    assert nothing.json()["code"] == "organization-classification-invalid"
    assert nothing.json()["errors"][0]["pointer"] == "/categories/0/code"


@pytest.fixture(params=["in_process", "remote"])
async def preferences(
    request: pytest.FixtureRequest, host: Host
) -> AsyncIterator[public.Preferences]:
    local = LocalPreferences(host)
    if request.param == "in_process":
        yield through_json(public.Preferences, local)
        return
    bindings, secret = Bindings(), bytes(32)
    bindings.bind(public.Preferences, local)
    served = Starlette(routes=routes(bindings, [public.Preferences], secret, now=host.now))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=served)) as client:
        yield remote(
            public.Preferences, "http://other.test", secret=secret, client=client, now=host.now
        )


async def test_the_port_tells_the_document_in_force(
    api: httpx2.AsyncClient, owner: people.Member, preferences: public.Preferences
):
    await put(api, owner, WANTED, seen=0)

    found = await preferences.current(organization_id=owner.organization_id)

    assert found.preferences_version == 1
    assert found.document.provinces == ["FS", "GP"]
    assert str(found.document.value_band.min) == "ZAR 500000.00"
    assert found.document.cidb[0].class_of_works == "CE"


async def test_the_port_tells_defaults_of_whoever_has_said_nothing(
    preferences: public.Preferences, seeded: None
):
    found = await preferences.current(organization_id=uuid4())

    assert found == public.CurrentPreferences()
