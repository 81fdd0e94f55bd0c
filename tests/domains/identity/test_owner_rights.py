"""Nobody but an owner changes what an owner may do, by any path (SEC-57)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.identity.deciding.held import catalogue, held, over_time
from tests.domains.identity.inviting import invite, with_address
from tests.domains.identity.test_assignments import text
from tests.domains.identity.test_roles import BECAUSE, assign, give, make, move
from tests.factories import identity as people
from tests.factories.identity import Member
from thenga import topology
from thenga.domains.identity.services.decisions import _holding
from thenga.domains.identity.services.decisions._facts import Facts, Question
from thenga.kernel.process.host import Host

REMOVE = "identity:membership:manage"  # with this an owner removes an administrator
PREFIXES = ("roles", "role-assignments", "permission-assignments", "memberships", "invitations")


@dataclass
class Scene:
    """An owner who also has a role `held`, and an administrator who attacks."""

    api: httpx2.AsyncClient
    host: Host
    owner: Member
    second: Member
    administrator: Member
    role: dict[str, Any]  # given to the owner by another owner
    role_assignment: str
    allow_on_role: str
    allow_on_owner: str
    email: str

    @property
    def member(self) -> dict[str, str]:
        return {"type": "membership", "id": str(self.owner.membership_id)}

    @property
    def held(self) -> dict[str, str]:
        return {"type": "role", "id": self.role["id"]}

    def at(self, days: int) -> str:
        return text(self.host.now() + timedelta(days=days))

    async def post(self, path: str, **body: Any) -> httpx2.Response:
        headers = self.administrator.acting
        return await self.api.post(f"/identity/{path}", json=BECAUSE | body, headers=headers)

    async def deny(self, target: dict[str, str], **more: Any) -> httpx2.Response:
        body = {"target": target, "permission": REMOVE, "effect": "deny"} | more
        return await self.post("permission-assignments", **body)

    async def denying_role(self, **more: Any) -> dict[str, Any]:
        """A role with a deny that the administrator makes."""
        made = (await make(self.api, self.administrator)).json()
        await move(self.api, self.administrator, made["id"], "activate")
        denied = await self.deny({"type": "role", "id": made["id"]}, **more)
        assert denied.status_code == 201, denied.text
        return dict(made)


async def scene(api: httpx2.AsyncClient, host: Host) -> Scene:
    email = f"owner.{uuid4().hex}@mokoena.co.za"
    who = await with_address(host, email)
    owner = await people.member(host, uuid4(), role="owner", who=who)
    second = await people.member(host, owner.organization_id, role="owner")
    administrator = await people.member(host, owner.organization_id, role="administrator")
    role = (await make(api, second, REMOVE)).json()
    await move(api, second, role["id"], "activate")
    given = await give(api, second, owner, role["code"])
    member = {"type": "membership", "id": str(owner.membership_id)}
    on_role = await assign(api, second, {"type": "role", "id": role["id"]}, REMOVE, "allow")
    on_owner = await assign(api, second, member, REMOVE, "allow")
    answers = (given, on_role, on_owner)
    assert [one.status_code for one in answers] == [201] * 3, [one.text for one in answers]
    keys = [one.json()["id"] for one in answers]
    return Scene(api, host, owner, second, administrator, role, *keys, email)


async def patch_role(s: Scene) -> None:
    path = f"/identity/roles/{s.role['id']}"
    shown = await s.api.get(path, headers=s.administrator.acting)
    body = {"permissions": ["organization:organization:read"], **BECAUSE}
    headers = s.administrator.acting | {"If-Match": shown.headers["ETag"]}
    changed = await s.api.patch(path, json=body, headers=headers)
    assert changed.status_code == 200, changed.text


async def retire_role(s: Scene) -> None:
    await s.post(f"role-assignments/{s.role_assignment}/revoke")
    await s.post(f"roles/{s.role['id']}/deprecate")
    retired = await s.post(f"roles/{s.role['id']}/retire")
    assert retired.status_code == 200, retired.text


async def give_denying(s: Scene, **more: Any) -> None:
    role = await s.denying_role()
    await give(s.api, s.administrator, s.owner, role["code"], **more)


async def give_then_deny(s: Scene) -> None:
    made = (await make(s.api, s.administrator)).json()
    await move(s.api, s.administrator, made["id"], "activate")
    await give(s.api, s.administrator, s.owner, made["code"])
    await s.deny({"type": "role", "id": made["id"]}, validFrom=s.at(1))


async def invited(s: Scene, verb: str = "") -> None:
    role = await s.denying_role()
    sent = await invite(s.api, s.administrator, s.email, role["code"])
    if verb:
        key = sent.json().get("id", s.owner.membership_id)
        body = {"token": "thl_none"} if verb in ("accept", "decline", "inspect") else {}
        await s.post(f"invitations/{key}/{verb}".replace(f"{key}/inspect", "inspect"), **body)


async def on_owner(s: Scene, verb: str) -> None:
    await s.post(f"memberships/{s.owner.membership_id}/{verb}")


Case = Callable[[Scene], Awaitable[Any]]
# Each operation that changes rights, as an administrator would turn it against an owner:
# directly, through a role that the owner holds, through a role that the owner gets later.
CASES: dict[str, dict[str, Case]] = {
    "POST permission-assignments": {
        "direct": lambda s: s.deny(s.member),
        "direct, scheduled": lambda s: s.deny(s.member, validFrom=s.at(1)),
        "direct, for a time": lambda s: s.deny(s.member, validTo=s.at(2)),
        "role held": lambda s: s.deny(s.held),
        "role held, scheduled": lambda s: s.deny(s.held, validFrom=s.at(1)),
        "role later": give_then_deny,
    },
    "POST permission-assignments/{id}/revoke": {
        "direct": lambda s: s.post(f"permission-assignments/{s.allow_on_owner}/revoke"),
        "role held": lambda s: s.post(f"permission-assignments/{s.allow_on_role}/revoke"),
    },
    "POST role-assignments": {
        "direct": lambda s: give(s.api, s.administrator, s.owner, "viewer"),
        "role later": give_denying,
        "role later, scheduled": lambda s: give_denying(s, validFrom=s.at(1)),
    },
    "POST role-assignments/{id}/revoke": {
        "direct": lambda s: revoke_ownership(s),
        "role held": lambda s: s.post(f"role-assignments/{s.role_assignment}/revoke"),
    },
    "POST roles": {"role later": lambda s: s.denying_role()},
    "PATCH roles/{id}": {"role held": patch_role},
    "POST roles/{id}/activate": {"role later": give_denying},
    "POST roles/{id}/deprecate": {"role held": lambda s: s.post(f"roles/{s.role['id']}/deprecate")},
    "POST roles/{id}/retire": {"role held": retire_role},
    "POST memberships": {"direct": lambda s: s.post("memberships", **asked_again(s))},
    **{
        f"POST memberships/{{id}}/{verb}": {"direct": lambda s, verb=verb: on_owner(s, verb)}
        for verb in ("accept", "decline", "leave", "deactivate", "reactivate", "remove")
    },
    "POST invitations": {"role later": invited},
    "POST invitations/inspect": {"role later": lambda s: invited(s, "inspect")},
    **{
        f"POST invitations/{{id}}/{verb}": {"role later": lambda s, verb=verb: invited(s, verb)}
        for verb in ("accept", "decline", "resend", "revoke")
    },
}


async def revoke_ownership(s: Scene) -> None:
    path = f"/identity/role-assignments?membershipId={s.owner.membership_id}&roleCode=owner"
    listed = await s.api.get(path, headers=s.administrator.acting)
    (one,) = listed.json()["items"]
    assert (await s.post(f"role-assignments/{one['id']}/revoke")).status_code == 403


def asked_again(s: Scene) -> dict[str, Any]:
    return {
        "organizationId": str(s.owner.organization_id),
        "userId": str(s.owner.user_id),
        "roleCodes": ["viewer"],
    }


async def listed(s: Scene) -> frozenset[str]:
    """What the API itself says that the owner may do."""
    path = f"/identity/memberships/{s.owner.membership_id}/effective-permissions"
    answer = await s.api.get(path, headers=s.second.acting)
    return frozenset(one["permission"] for one in answer.json()["items"])


async def attacked(api: httpx2.AsyncClient, host: Host, case: Case) -> bool:
    """Whether the owner may do something else afterwards, now or in three days."""
    s = await scene(api, host)
    before = [*await over_time(host, s.owner, 0, 3), await listed(s)]
    await case(s)
    return before != [*await over_time(host, s.owner, 0, 3), await listed(s)]


@pytest.mark.rule("SEC-57")
async def test_no_operation_changes_what_an_owner_may_do(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    changed, cases = [], 0
    for operation, ways in CASES.items():
        for way, case in ways.items():
            cases += 1
            if await attacked(api, host, case):
                changed.append(f"{operation}, {way}")

    print(f"operations={len(CASES)} cases={cases} owners_changed={len(changed)}")
    assert changed == []


@pytest.mark.rule("SEC-57")
def test_every_operation_that_changes_rights_has_its_case():
    (identity,) = (one for one in topology.load(topology.DOMAINS) if one.name == "identity")
    found = set()
    for router in identity.routers:
        for route in router.routes:
            head, _, rest = route.path.removeprefix("/identity/").partition("/")  # type: ignore[attr-defined]
            if head not in PREFIXES:
                continue
            verb = rest.rpartition("/")[2] if "/" in rest or not rest.startswith("{") else ""
            path = "/".join(part for part in (head, "{id}" * rest.startswith("{"), verb) if part)
            found |= {f"{method} {path}" for method in route.methods - {"GET"}}  # type: ignore[attr-defined]

    assert found == set(CASES)


@pytest.mark.rule("SEC-57")
async def test_a_new_owner_has_everything_whatever_was_denied(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    s = await scene(api, host)
    member = await people.member(host, s.owner.organization_id, role="viewer")
    target = {"type": "membership", "id": str(member.membership_id)}
    role = await s.denying_role()
    now = await s.deny(target)
    later = await s.deny(target, validFrom=s.at(1))
    through = await give(api, s.administrator, member, role["code"])
    made = await give(api, s.second, member, "owner")
    codes = frozenset(await catalogue(host))

    assert [one.status_code for one in (now, through, made)] == [201] * 3
    assert later.status_code in (201, 409)
    assert await over_time(host, member, 0, 3) == [codes, codes]
    holding = f"/identity/organizations/{s.owner.organization_id}/members?holding={REMOVE}"
    members = (await api.get(holding, headers=s.owner.headers)).json()["items"]
    assert str(member.user_id) in {one["userId"] for one in members}


@pytest.mark.rule("SEC-57")
async def test_an_owner_is_denied_nothing_not_even_by_an_owner(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    s = await scene(api, host)

    by_owner = await assign(api, s.second, s.member, REMOVE, "deny")
    by_administrator = await assign(api, s.administrator, s.member, REMOVE, "deny")

    assert (by_owner.status_code, by_owner.json()["rule"]) == (422, "SEC-57")
    assert (by_administrator.status_code, by_administrator.json()["code"]) == (
        403,
        "identity-grant-above-own",
    )


@pytest.mark.rule("SEC-57")
async def test_only_owners_end_the_membership_of_an_absent_owner(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    s = await scene(api, host)
    member = await people.member(host, s.owner.organization_id, role="viewer")
    await give(api, s.second, member, "owner", validFrom=s.at(1))
    away = f"/identity/memberships/{s.owner.membership_id}"
    await api.post(f"{away}/deactivate", json=BECAUSE, headers=s.second.acting)

    removed = await s.post(f"memberships/{s.owner.membership_id}/remove")
    future = await s.post(f"memberships/{member.membership_id}/deactivate")
    by_owner = await api.post(f"{away}/remove", json=BECAUSE, headers=s.second.acting)

    assert (removed.status_code, future.status_code) == (403, 403)
    assert by_owner.status_code == 200


async def test_a_planted_gate_that_denies_owners_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    right = _holding._of_member

    def wrong(facts: Facts, question: Question) -> _holding.Holding:
        return right(replace(facts, by_owner=False), question)

    monkeypatch.setattr(_holding, "_of_member", wrong)

    assert await attacked(api, host, CASES["POST permission-assignments"]["role held"])
    assert not await attacked(api, host, CASES["POST roles"]["role later"])


async def test_the_owner_of_the_finding_removes_the_administrator(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    s = await scene(api, host)
    await give_denying(s)

    path = f"/identity/memberships/{s.administrator.membership_id}/remove"
    removed = await api.post(path, json=BECAUSE, headers=s.owner.acting)

    assert removed.status_code == 200
    assert await held(host, s.administrator) == frozenset()
