"""Questions: batches, machines, scopes, denies, and every kind of actor."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import identity as people
from tests.factories.identity import Member
from tests.through_json import through_json
from thenga.domains.identity import public
from thenga.domains.identity.provider import LocalDecisions
from thenga.domains.identity.services.decisions import _statement
from thenga.kernel.db.pool import Pool
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

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
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def viewer(host: Host, owner: Member) -> Member:
    return await people.member(host, owner.organization_id, role="viewer")


async def told(api: httpx2.AsyncClient, who: Member, **asked: Any) -> dict[str, Any]:
    answer = await api.post("/identity/authorize", json=question(who, **asked), headers=who.headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.rule("IDN-27")
async def test_a_batch_is_one_statement_and_answers_in_order(
    api: httpx2.AsyncClient, owner: Member, viewer: Member, monkeypatch: pytest.MonkeyPatch
):
    actions = [CREATE, READ, "no_such:thing:here"] * 33
    body = {"questions": [question(viewer, action) for action in actions]}
    foreign = question(owner, READ)
    fetched: list[str] = []
    fetch = Pool.fetch

    async def counted(self: Pool, text: str, *arguments: Any) -> Any:
        fetched.append(text)
        return await fetch(self, text, *arguments)

    monkeypatch.setattr(Pool, "fetch", counted)
    answer = await api.post(
        "/identity/authorize/batch",
        json={"questions": [*body["questions"], foreign]},
        headers=viewer.headers,
    )
    too_many = await api.post(
        "/identity/authorize/batch",
        json={"questions": [*body["questions"], foreign, foreign]},
        headers=viewer.headers,
    )

    reasons = [one["reasonCode"] for one in answer.json()["items"]]
    print(f"questions={len(reasons)} statements={len(fetched)}")
    assert fetched == [_statement._MANY_PEOPLE]
    assert reasons == ["permission_missing", "allowed", "permission_missing"] * 33 + [
        "no_membership"
    ]
    assert too_many.status_code == 422


@pytest.mark.rule("IDN-34")
async def test_a_machine_has_the_persons_rights_cut(api: httpx2.AsyncClient, owner: Member):
    agent = {"agentId": "bid-writer", "version": "3"}

    reading = await told(api, owner, action=READ, agent=agent)
    writing = await told(api, owner, action=CREATE, channel="agent", agent=agent)
    grave = await told(api, owner, action=MAKE_KEY, agent=agent)

    assert (reading["decision"], reading["obligations"]) == ("allow", [])
    assert (writing["decision"], writing["obligations"]) == ("allow", [{"type": "approval"}])
    assert (grave["decision"], grave["reasonCode"]) == ("deny", "agent_not_allowed")


@pytest.mark.rule("IDN-26")
async def test_a_right_on_one_resource_passes_only_there(
    api: httpx2.AsyncClient, host: Host, viewer: Member
):
    mine = str(new_id())
    work = people.working(host, viewer.organization_id)
    scope = {"scope_domain": "organization", "scope_type": "equipment", "scope_id": mine}
    await people.permission(work, viewer, "organization:equipment:update", effect="allow", **scope)
    await work.finish()
    asked = question(viewer, "organization:equipment:update")

    async def on(**resource: Any) -> str:
        body = asked | {"resource": {"type": "equipment"} | resource}
        answer = await api.post("/identity/authorize", json=body, headers=viewer.headers)
        return str(answer.json()["reasonCode"])

    route = await api.patch(
        f"/organizations/{viewer.organization_id}/equipment/{mine}",
        json={"quantity": 2},
        headers=viewer.headers,
    )

    assert await on(id=mine) == "allowed"
    assert await on(id=str(new_id())) == "scope_missing"
    assert await on(id="a part", parents=[f"organization.equipment/{mine}"]) == "allowed"
    assert await on() == "scope_missing"
    assert (route.status_code, route.json()["reasonCode"]) == (403, "scope_missing")


@pytest.mark.rule("IDN-25")
async def test_one_deny_beats_every_allow(api: httpx2.AsyncClient, host: Host, owner: Member):
    administrator = await people.member(host, owner.organization_id, role="administrator")
    work = people.working(host, owner.organization_id)
    for who in (owner, administrator):
        await people.permission(work, who, READ, effect="deny")
    await work.finish()
    path = f"/organizations/{owner.organization_id}/equipment"

    asked = await told(api, administrator, action=READ)
    route = await api.get(path, headers=administrator.headers)
    by_owner = await api.get(path, headers=owner.headers)

    assert asked["reasonCode"] == "permission_denied"
    assert (route.status_code, route.json()["reasonCode"]) == (403, "permission_denied")
    assert by_owner.status_code == 200  # SEC-57


@pytest.mark.rule("IDN-29")
async def test_restricted_organization_can_read_but_not_change(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    work = people.working(host, owner.organization_id)
    await work.run(
        "UPDATE identity.tenant_mirror SET status = 'restricted', "
        "capabilities_off = '{organization:equipment}' WHERE organization_id = $1",
        owner.organization_id,
    )
    await work.finish()
    path = f"/organizations/{owner.organization_id}/equipment"

    read = await api.get(path, headers=owner.headers)
    written = await api.post(path, json={"name": "Crane", "quantity": 1}, headers=owner.headers)

    assert read.status_code == 200
    assert (written.status_code, written.json()["code"]) == (403, "tenant-restricted")


@pytest.mark.rule("IDN-18")
async def test_staff_without_a_second_factor_do_nothing_but_their_own(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    half = await people.staff(host, "platform_auditor")
    work = people.working(host, user_id=half.user_id)
    await work.run(
        "UPDATE identity.session SET assurance = 'aal1' WHERE user_id = $1", half.user_id
    )
    await work.finish()

    refused = await api.get("/identity/decisions", headers=half.headers)
    own = await api.get("/identity/mfa/factors", headers=half.headers)

    assert (refused.status_code, refused.json()["reasonCode"]) == (403, "mfa_enrolment_required")
    assert refused.json()["remedy"] == {"kind": "enrol_factor"}
    assert own.status_code == 200


@pytest.mark.parametrize("kind", ["user", "service", "platform", "api_key"])
async def test_the_port_answers_for_every_kind_of_actor(host: Host, owner: Member, kind: str):
    port = through_json(public.Decisions, LocalDecisions(host))
    actor = public.ActorRef(type=kind, id=owner.user_id)  # type: ignore[arg-type]
    one = public.Question(
        actor=actor,
        organization_id=owner.organization_id,
        action=CREATE,
        resource=public.ResourceRef(type="equipment"),
        channel="job",
        request_id="later",
    )

    made = await port.check_many(questions=[one, one])
    alone = await port.check(**{name: getattr(one, name) for name in type(one).model_fields})

    expected = {
        "user": "allowed",
        "platform": "allowed",
        "service": "permission_missing",
        "api_key": "no_membership",
    }[kind]
    assert {one.reason_code for one in (*made, alone)} == {expected}
