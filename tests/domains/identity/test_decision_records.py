"""What is kept of decisions, who reads it, how it is explained, and when it goes."""

from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest

from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from thenga.domains.identity.provider import LocalDecisions
from thenga.domains.identity.services import decisions
from thenga.domains.identity.services.decisions import _tallies
from thenga.kernel.process.host import Host

CREATE = "organization:equipment:create"
READ = "organization:equipment:read"
MAKE_KEY = "identity:api_key:create"


def question(who: Member, action: str = CREATE, **context: Any) -> dict[str, Any]:
    return {
        "actor": {"type": "user", "id": str(who.user_id)},
        "tenant": {"type": "organization", "id": str(who.organization_id)},
        "action": {"name": action},
        "resource": {"type": "equipment"},
        "context": {"requestId": "a-question", "channel": "http"} | context,
    }


def asking(who: Member) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(who.organization_id)}


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    made = await people.member(host, uuid4(), role="owner")
    await held.with_api_keys(host, made.organization_id)
    return made


@pytest.fixture
async def viewer(host: Host, owner: Member) -> Member:
    return await people.member(host, owner.organization_id, role="viewer")


async def told(api: httpx2.AsyncClient, who: Member, **asked: Any) -> dict[str, Any]:
    answer = await api.post("/identity/authorize", json=question(who, **asked), headers=who.headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.rule("IDN-36")
async def test_denial_is_read_only_by_its_organization_and_person(
    api: httpx2.AsyncClient, host: Host, owner: Member, viewer: Member
):
    refused = await api.post(
        f"/organizations/{viewer.organization_id}/equipment",
        json={"name": "Crane", "quantity": 1},
        headers=viewer.headers,
    )
    path = f"/identity/decisions/{refused.json()['decisionId']}"
    other = await people.member(host, uuid4(), role="owner")
    nobody = await people.person(host)

    by_owner = await api.get(path, headers=asking(owner))
    by_viewer = await api.get(path, headers=viewer.headers)
    strangers = [await api.get(path, headers=one.headers) for one in (other, nobody)]
    listed = await api.get(
        "/identity/decisions",
        params={"actorId": str(viewer.user_id), "reasonCode": "permission_missing"},
        headers=asking(owner),
    )

    assert by_owner.json() == by_viewer.json()
    assert by_owner.json()["purpose"] == "entrance"
    assert [one.status_code for one in strangers] == [404, 404]
    assert [one["id"] for one in listed.json()["items"]] == [by_owner.json()["id"]]


@pytest.mark.rule("IDN-36")
async def test_sensitive_allow_is_recorded_and_named_by_the_trail(
    api: httpx2.AsyncClient, owner: Member
):
    body = {"name": "Import", "scopes": [READ], "reason": "x"}
    made = await api.post("/identity/api-keys", json=body, headers=asking(owner))
    kept = await api.get(
        "/identity/decisions",
        params={"action": MAKE_KEY, "decision": "allow"},
        headers=asking(owner),
    )
    trail = await api.get(
        "/identity/audit-events",
        params={"decisionId": kept.json()["items"][0]["id"]},
        headers=asking(owner),
    )

    assert len(kept.json()["items"]) == 1
    assert made.json()["id"] in {one["target"]["id"] for one in trail.json()["items"]}


@pytest.mark.rule("IDN-33")
async def test_an_explanation_shows_every_stage_and_is_told(
    api: httpx2.AsyncClient, host: Host, owner: Member, viewer: Member
):
    stranger = await people.member(host, uuid4(), role="owner")
    ask = "/identity/decisions/explain"

    explained = await api.post(ask, json=question(viewer), headers=asking(owner))
    foreign = question(viewer) | {"actor": {"type": "user", "id": str(stranger.user_id)}}
    missing = question(viewer) | {"actor": {"type": "user", "id": str(uuid4())}}
    unknown = [
        (await api.post(ask, json=body, headers=asking(owner))).json()
        for body in (foreign, missing)
    ]
    by_viewer = await api.post(ask, json=question(owner), headers=asking(viewer))
    trail = await api.get(
        "/identity/audit-events",
        params={"action": "identity:decision:inspect"},
        headers=asking(owner),
    )

    stages = {one["stage"]: one["passes"] for one in explained.json()["stages"]}
    assert stages == dict.fromkeys(stages, True) | {"permission": False, "policy": False}
    assert len(stages) == 8
    assert explained.json()["decision"]["reasonCode"] == "permission_missing"
    assert {one["decision"]["reasonCode"] for one in unknown} == {"no_membership"}
    assert unknown[0]["stages"] == unknown[1]["stages"]
    assert by_viewer.json()["decision"]["reasonCode"] == "no_membership"
    assert len(trail.json()["items"]) == 3


@pytest.mark.rule("IDN-36")
async def test_decisions_are_tallied_by_shape(host: Host, owner: Member):
    gate = LocalDecisions(host)
    for _ in range(3):
        await gate.enter(
            credential=owner.token,
            organization_id=owner.organization_id,
            permission=READ,
            network="127.0.0.1",
            request_id="tallied",
        )
    await host.gathered["identity decisions"].flush()
    await gate.enter(
        credential=owner.token,
        organization_id=owner.organization_id,
        permission=READ,
        network="127.0.0.1",
        request_id="tallied",
    )
    await host.gathered["identity decisions"].flush()

    admin = await asyncpg.connect(host.settings.admin_database.get_secret_value())
    rows = await admin.fetch(
        "SELECT count, reason_code, context FROM identity.decision_tally "
        "WHERE organization_id = $1 AND action = $2",
        *(owner.organization_id, READ),
    )
    await admin.close()
    assert sum(row["count"] for row in rows) == 4
    assert {row["reason_code"] for row in rows} == {"allowed"}
    assert _tallies.MOST_SHAPES == 10_000


@pytest.mark.rule("IDN-36")
async def test_what_is_past_its_time_goes(host: Host, owner: Member, api: httpx2.AsyncClient):
    kept = UUID((await told(api, owner))["decisionId"])
    old = UUID((await told(api, owner))["decisionId"])
    admin = await asyncpg.connect(host.settings.admin_database.get_secret_value())
    await admin.execute(
        "UPDATE identity.decision_record SET created_at = created_at - interval '91 days' "
        "WHERE id = $1",
        old,
    )
    work = people.working(host)
    work._pool = host.engines.pool("identity", "identity_system")
    await decisions.purge(work, limit=10_000)
    await work.finish()
    left = await admin.fetch(
        "SELECT id FROM identity.decision_record WHERE id = ANY ($1)", [kept, old]
    )
    await admin.close()

    assert [row["id"] for row in left] == [kept]
