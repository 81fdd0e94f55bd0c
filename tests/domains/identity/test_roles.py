"""Roles of an organization's own making, and the rule that nobody gives what they do not hold."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from thenga.domains.identity.services.roles.rights import Giver
from thenga.kernel.process.host import Host

READ, CREATE = "organization:equipment:read", "organization:equipment:create"
BECAUSE = {"reason": "The work changes"}


async def make(
    api: httpx2.AsyncClient, by: Member, *permissions: str, **more: Any
) -> httpx2.Response:
    body = {
        "code": f"r_{uuid4().hex[:10]}",
        "name": "Yard foreman",
        "permissions": list(permissions or (READ,)),
        **BECAUSE,
    } | more
    return await api.post("/identity/roles", json=body, headers=by.acting)


async def move(api: httpx2.AsyncClient, by: Member, key: str, verb: str) -> httpx2.Response:
    return await api.post(f"/identity/roles/{key}/{verb}", json=BECAUSE, headers=by.acting)


async def give(
    api: httpx2.AsyncClient, by: Member, to: Member, code: str, **more: Any
) -> httpx2.Response:
    body = {"membershipId": str(to.membership_id), "roleCode": code, **BECAUSE} | more
    return await api.post("/identity/role-assignments", json=body, headers=by.acting)


async def assign(
    api: httpx2.AsyncClient, by: Member, target: dict[str, str], code: str, effect: str
) -> httpx2.Response:
    body = {"target": target, "permission": code, "effect": effect, **BECAUSE}
    return await api.post("/identity/permission-assignments", json=body, headers=by.acting)


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await people.member(host, uuid4(), role="owner")


async def enters(api: httpx2.AsyncClient, who: Member) -> int:
    path = f"/organizations/{who.organization_id}/equipment"
    return (await api.get(path, headers=who.headers)).status_code


@pytest.mark.rule("IDN-24")
async def test_own_role_counts_at_the_next_check_until_retired(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    member = await people.member(host, owner.organization_id, role="nothing_at_all")
    made = (await make(api, owner, READ, description="Sees the machines")).json()
    path = f"/identity/roles/{made['id']}"

    draft = await give(api, owner, member, made["code"])
    await move(api, owner, made["id"], "activate")
    before = await enters(api, member)
    given = await give(api, owner, member, made["code"])
    after = await enters(api, member)
    shown = await api.get(path, headers=owner.acting)
    changed = await api.patch(
        path,
        json={"permissions": ["organization:organization:read"], **BECAUSE},
        headers=owner.acting | {"If-Match": shown.headers["ETag"]},
    )
    without = await enters(api, member)
    await move(api, owner, made["id"], "deprecate")
    in_use = await move(api, owner, made["id"], "retire")
    revoke = f"/identity/role-assignments/{given.json()['id']}/revoke"
    await api.post(revoke, json=BECAUSE, headers=owner.acting)
    retired = await move(api, owner, made["id"], "retire")

    assert (draft.status_code, draft.json()["rule"]) == (422, "IDN-24")
    assert (before, after, without) == (403, 200, 403)
    assert (shown.json()["assignedCount"], shown.json()["status"]) == (1, "active")
    assert changed.json()["version"] == shown.json()["version"] + 1
    assert (in_use.status_code, in_use.json()["code"]) == (409, "identity-role-in-use")
    assert in_use.json()["references"][0]["id"] == given.json()["id"]
    assert retired.json()["status"] == "retired"


async def test_changing_a_role_needs_the_version_that_was_read(
    api: httpx2.AsyncClient, owner: Member
):
    made = (await make(api, owner)).json()
    path = f"/identity/roles/{made['id']}"
    body = {"name": "Foreman", **BECAUSE}

    without = await api.patch(path, json=body, headers=owner.acting)
    stale = await api.patch(path, json=body, headers=owner.acting | {"If-Match": '"9"'})
    right = await api.patch(path, json=body, headers=owner.acting | {"If-Match": '"1"'})

    assert (without.status_code, without.json()["code"]) == (428, "precondition-required")
    assert (stale.status_code, stale.json()["code"]) == (412, "stale-version")
    assert (right.status_code, right.json()["name"]) == (200, "Foreman")


async def test_built_in_roles_are_the_same_everywhere_and_stay_so(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    somebody = await people.person(host)
    custom = (await make(api, owner)).json()

    seen = await api.get("/identity/roles?kind=built_in", headers=somebody.headers)
    both = await api.get("/identity/roles?audience=tenant", headers=owner.acting)
    (viewer,) = (one for one in seen.json()["items"] if one["code"] == "viewer")
    moved = await move(api, owner, viewer["id"], "deprecate")
    granted = await assign(api, owner, {"type": "role", "id": viewer["id"]}, READ, "allow")
    same = await make(api, owner, code="viewer")
    stranger = await api.get(f"/identity/roles/{custom['id']}", headers=somebody.headers)

    codes = [one["code"] for one in seen.json()["items"]]
    assert {"owner", "viewer", "platform_auditor"} <= set(codes)
    assert READ in viewer["permissions"]
    assert custom["code"] in [one["code"] for one in both.json()["items"]]
    assert (moved.status_code, moved.json()["code"]) == (409, "identity-role-built-in")
    assert (granted.status_code, granted.json()["code"]) == (409, "identity-role-built-in")
    assert (same.status_code, same.json()["code"]) == (409, "duplicate")
    assert stranger.status_code == 404


async def test_pages_of_roles_show_each_once(api: httpx2.AsyncClient, owner: Member):
    for _ in range(3):
        await make(api, owner)
    seen: list[str] = []
    query = "?limit=4"
    while query:
        answer = await api.get(f"/identity/roles{query}", headers=owner.acting)
        seen += [one["code"] for one in answer.json()["items"]]
        cursor = answer.json()["nextCursor"]
        query = f"?limit=4&cursor={cursor}" if cursor else ""

    assert len(seen) == len(set(seen)) == 15 + 3


async def denied_four_times(api: httpx2.AsyncClient, host: Host) -> list[tuple[int, str]]:
    """An administrator who is denied a permission tries to give it in four ways."""
    owner = await people.member(host, uuid4(), role="owner")
    await held.with_api_keys(host, owner.organization_id)
    administrator = await people.member(host, owner.organization_id, role="administrator")
    other = await people.member(host, owner.organization_id, role="viewer")
    target = {"type": "membership", "id": str(administrator.membership_id)}
    ready = (await make(api, owner, CREATE)).json()
    await move(api, owner, ready["id"], "activate")
    denied = await assign(api, owner, target, CREATE, "deny")
    assert denied.status_code == 201, denied.text

    member = {"type": "membership", "id": str(other.membership_id)}
    invitation = {
        "organizationId": str(owner.organization_id),
        "email": f"{uuid4().hex}@example.test",
        "roleCodes": [ready["code"]],
    }
    key = {
        "name": "Sync",
        "scopes": [CREATE],
        "expiresAt": "2027-06-01T00:00:00Z",
        **BECAUSE,
    }
    answers = [
        await make(api, administrator, CREATE),
        await assign(api, administrator, member, CREATE, "allow"),
        await api.post("/identity/api-keys", json=key, headers=administrator.acting),
        await api.post("/identity/invitations", json=invitation, headers=administrator.acting),
    ]
    return [(one.status_code, one.json().get("code", "")) for one in answers]


@pytest.mark.rule("IDN-20")
async def test_who_is_denied_a_permission_gives_it_in_no_way(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    answers = await denied_four_times(api, host)

    print(f"role, grant, key, invitation: {answers}")
    assert answers == [(403, "identity-grant-above-own")] * 4


async def test_a_planted_giver_who_may_give_everything_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Giver, "must_hold", lambda *_, **__: None)

    answers = await denied_four_times(api, host)

    assert [status for status, _ in answers] == [201, 201, 201, 201]


@pytest.mark.rule("IDN-20")
async def test_a_role_of_another_organization_cannot_be_given_there(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    other = await people.member(host, uuid4(), role="owner")
    theirs = await people.member(host, other.organization_id, role="viewer")

    foreign = await give(api, owner, theirs, "viewer")
    acting = {"membershipId": str(theirs.membership_id), "roleCode": "viewer", **BECAUSE}
    there = await api.post(
        "/identity/role-assignments",
        json=acting,
        headers=owner.headers | {"X-Organization-Id": str(other.organization_id)},
    )

    assert (foreign.status_code, there.status_code) == (404, 404)


@pytest.mark.rule("IDN-24")
async def test_an_organization_makes_fifty_roles_of_its_own(
    api: httpx2.AsyncClient, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("thenga.domains.identity.services.roles.roles.MOST", 2)
    first = [(await make(api, owner)).status_code for _ in range(2)]

    third = await make(api, owner)
    unknown = await make(api, owner, "identity:session:read")

    assert first == [201, 201]
    assert (third.status_code, third.json()["rule"]) == (422, "IDN-24")
    assert (unknown.status_code, unknown.json()["rule"]) == (422, "IDN-24")
