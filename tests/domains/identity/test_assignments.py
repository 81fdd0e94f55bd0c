"""Roles and single permissions given for a time, on one resource, to members and to staff."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.identity.inviting import moved, told
from tests.domains.identity.test_roles import (
    BECAUSE,
    CREATE,
    READ,
    assign,
    enters,
    give,
    make,
    move,
)
from tests.factories import identity as people
from tests.factories.identity import Member
from thenga.domains.identity.services.roles import permission_assignments, role_assignments
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def bare(host: Host, owner: Member) -> Member:
    """A member whose one role holds nothing."""
    return await people.member(host, owner.organization_id, role="nothing_at_all")


async def revoke(api: httpx2.AsyncClient, by: Member, kind: str, key: str) -> httpx2.Response:
    return await api.post(f"/identity/{kind}/{key}/revoke", json=BECAUSE, headers=by.acting)


def text(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


async def test_a_role_counts_from_the_next_check_until_it_is_revoked(
    api: httpx2.AsyncClient, owner: Member, bare: Member
):
    before = await enters(api, bare)
    given = await give(api, owner, bare, "viewer")
    during = await enters(api, bare)
    twice = await give(api, owner, bare, "viewer")
    taken = await revoke(api, owner, "role-assignments", given.json()["id"])
    listed = await api.get(
        f"/identity/role-assignments?userId={bare.user_id}&status=revoked", headers=owner.acting
    )

    assert (before, during, await enters(api, bare)) == (403, 200, 403)
    assert (twice.status_code, twice.json()["existing"]["id"]) == (409, given.json()["id"])
    assert taken.json()["statusReason"] == {"code": "revoked", "text": BECAUSE["reason"]}
    assert [one["roleCode"] for one in listed.json()["items"]] == ["viewer"]


async def test_time_begins_and_ends_a_role_before_any_sweep(
    api: httpx2.AsyncClient, host: Host, owner: Member, bare: Member
):
    now = host.now()
    given = await give(
        api,
        owner,
        bare,
        "viewer",
        validFrom=text(now + timedelta(days=1)),
        validTo=text(now + timedelta(days=3)),
    )
    key = UUID(given.json()["id"])

    async def at(days: int) -> tuple[str, int, int]:
        await moved(host, owner.organization_id, timedelta(days=days))
        query = f"/identity/role-assignments?membershipId={bare.membership_id}&roleCode=viewer"
        shown = (await api.get(query, headers=owner.acting)).json()["items"][0]["status"]
        by_status = await api.get(f"{query}&status={shown}", headers=owner.acting)
        return shown, len(by_status.json()["items"]), await enters(api, bare)

    seen = [await at(0), await at(2), await at(4)]
    for _ in range(2):
        work = people.working(host, owner.organization_id)
        work.now = work.now_in(timedelta(days=4))
        await role_assignments.run_due_role_steps(work, key)
        await work.finish()

    changes = [
        one["status"]
        for one in await told(host, owner.organization_id, "RoleAssignmentChanged")
        if one["roleAssignmentId"] == str(key)
    ]
    assert seen == [("scheduled", 1, 403), ("active", 1, 200), ("expired", 1, 403)]
    assert changes == ["scheduled", "expired"]
    late = await revoke(api, owner, "role-assignments", str(key))
    assert (late.status_code, late.json()["from"]) == (409, "expired")


@pytest.mark.rule("IDN-20")
async def test_nobody_changes_their_own_rights_except_to_give_one_up(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    administrator = await people.member(host, owner.organization_id, role="administrator")
    extra = await give(api, owner, administrator, "viewer")
    me = {"type": "membership", "id": str(administrator.membership_id)}
    denied = await assign(api, owner, me, CREATE, "deny")

    mine = await give(api, administrator, administrator, "contributor")
    direct = await assign(api, administrator, me, READ, "allow")
    undo = await revoke(api, administrator, "permission-assignments", denied.json()["id"])
    up = await revoke(api, administrator, "role-assignments", extra.json()["id"])

    assert (mine.status_code, mine.json()["rule"]) == (422, "IDN-20")
    assert (direct.status_code, direct.json()["rule"]) == (422, "IDN-20")
    assert (undo.status_code, undo.json()["rule"]) == (422, "IDN-20")
    assert (up.status_code, up.json()["status"]) == (200, "revoked")


@pytest.mark.rule("IDN-19")
async def test_the_last_owner_keeps_the_role(api: httpx2.AsyncClient, host: Host, owner: Member):
    listed = await api.get("/identity/role-assignments?roleCode=owner", headers=owner.acting)
    (only,) = listed.json()["items"]
    administrator = await people.member(host, owner.organization_id, role="administrator")

    last = await revoke(api, owner, "role-assignments", only["id"])
    second = await people.member(host, owner.organization_id, role="owner")
    above = await revoke(api, administrator, "role-assignments", only["id"])
    gone = await revoke(api, second, "role-assignments", only["id"])

    assert (last.status_code, last.json()["code"]) == (409, "identity-last-owner")
    assert (above.status_code, above.json()["code"]) == (403, "identity-grant-above-own")
    assert (gone.status_code, gone.json()["status"]) == (200, "revoked")


@pytest.mark.rule("IDN-25")
async def test_one_deny_beats_every_allow(
    api: httpx2.AsyncClient, host: Host, owner: Member, bare: Member
):
    target = {"type": "membership", "id": str(bare.membership_id)}
    await give(api, owner, bare, "viewer")
    await assign(api, owner, target, READ, "allow")
    rights = f"/identity/memberships/{bare.membership_id}/effective-permissions"

    async def ways() -> list[str]:
        items = (await api.get(rights, headers=owner.acting)).json()["items"]
        return [way for one in items if one["permission"] == READ for way in one["via"]]

    allowed = (await enters(api, bare), await ways())
    deny = await assign(api, owner, target, READ, "deny")
    denied = (await enters(api, bare), await ways())
    holding = f"/identity/organizations/{owner.organization_id}/members?holding={READ}"
    members = (await api.get(holding, headers=owner.headers)).json()["items"]
    await revoke(api, owner, "permission-assignments", deny.json()["id"])

    assert allowed == (200, ["direct", "role:viewer"])
    assert denied == (403, [])
    assert [one["roleCodes"] for one in members] == [["owner"]]
    assert await enters(api, bare) == 200


@pytest.mark.rule("IDN-26")
async def test_a_right_on_one_resource_does_not_open_the_whole(
    api: httpx2.AsyncClient, host: Host, owner: Member, bare: Member
):
    resource = {"domain": "bid", "type": "workspace", "id": str(uuid4())}
    scope = {"type": "resource", "resource": resource}
    given = await give(api, owner, bare, "viewer", scope=scope)
    rights = await api.get(
        f"/identity/memberships/{bare.membership_id}/effective-permissions", headers=owner.acting
    )
    members = await api.get(
        f"/identity/organizations/{owner.organization_id}/members?holding={READ}",
        headers=owner.headers,
    )
    whole = await give(api, owner, bare, "viewer")

    assert given.json()["scope"] == scope
    assert {one["scope"]["type"] for one in rights.json()["items"]} == {"resource"}
    assert [one["roleCodes"] for one in members.json()["items"]] == [["owner"]]
    assert whole.status_code == 201


async def test_what_is_given_to_a_role_is_had_by_all_who_have_it(
    api: httpx2.AsyncClient, host: Host, owner: Member, bare: Member
):
    role = (await make(api, owner, "organization:organization:read")).json()
    await move(api, owner, role["id"], "activate")
    await give(api, owner, bare, role["code"])
    before = await enters(api, bare)

    given = await assign(api, owner, {"type": "role", "id": role["id"]}, READ, "allow")
    after = await enters(api, bare)
    listed = await api.get(
        f"/identity/permission-assignments?target={role['id']}&status=active",
        headers=owner.acting,
    )

    assert (before, after) == (403, 200)
    assert [one["id"] for one in listed.json()["items"]] == [given.json()["id"]]


async def test_a_single_permission_ends_by_time_once(
    api: httpx2.AsyncClient, host: Host, owner: Member, bare: Member
):
    body: dict[str, Any] = {
        "target": {"type": "membership", "id": str(bare.membership_id)},
        "permission": READ,
        "effect": "allow",
        "validTo": text(host.now() + timedelta(days=2)),
        **BECAUSE,
    }
    path = "/identity/permission-assignments"
    made = await api.post(path, json=body, headers=owner.acting)
    over = await api.post(
        path, json=body | {"validTo": text(host.now() - timedelta(days=1))}, headers=owner.acting
    )

    await moved(host, owner.organization_id, timedelta(days=3))
    shown = await api.get(f"{path}?status=expired", headers=owner.acting)
    for _ in range(2):
        work = people.working(host, owner.organization_id)
        work.now = work.now_in(timedelta(days=3))
        await permission_assignments.run_due_permission_steps(work, UUID(made.json()["id"]))
        await work.finish()

    ended = await told(host, owner.organization_id, "PermissionAssignmentChanged")
    assert (over.status_code, over.json()["rule"]) == (422, "validity")
    assert [one["status"] for one in shown.json()["items"]] == ["expired"]
    assert [one["status"] for one in ended] == ["active", "expired"]
    assert await enters(api, bare) == 403


@pytest.mark.rule("IDN-24")
async def test_platform_roles_keep_separation_of_duties(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    # Nobody gives what they do not hold, so the giver of this test holds both.
    both_roles = ("platform_policy_author", "platform_policy_approver")
    operator = await people.staff(host, "platform_operator", *both_roles)
    colleague = await people.staff(host)

    async def given(user_id: UUID, role: str) -> httpx2.Response:
        body = {"userId": str(user_id), "roleCode": role, **BECAUSE}
        return await api.post("/identity/role-assignments", json=body, headers=operator.headers)

    author = await given(colleague.user_id, "platform_policy_author")
    both = await given(colleague.user_id, "platform_policy_approver")
    twice = await given(colleague.user_id, "platform_policy_author")
    mine = await given(operator.user_id, "platform_auditor")
    outsider = await given((await people.person(host)).user_id, "platform_auditor")
    tenant = await given(colleague.user_id, "viewer")
    query = f"?userId={colleague.user_id}"
    listed = await api.get(f"/identity/role-assignments{query}", headers=operator.headers)
    taken = await api.post(
        f"/identity/role-assignments/{author.json()['id']}/revoke",
        json=BECAUSE,
        headers=operator.headers,
    )

    assert (author.status_code, author.json()["organizationId"]) == (201, None)
    assert (both.status_code, both.json()["rule"]) == (422, "IDN-24")
    assert twice.status_code == 409
    assert (mine.status_code, mine.json()["rule"]) == (422, "IDN-20")
    assert (outsider.status_code, outsider.json()["rule"]) == (422, "IDN-18")
    assert (tenant.status_code, tenant.json()["rule"]) == (422, "IDN-24")
    assert [one["roleCode"] for one in listed.json()["items"]] == ["platform_policy_author"]
    assert taken.json()["status"] == "revoked"
