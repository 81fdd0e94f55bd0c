"""What a role gives is what the gate allows; nobody gains more than the giver holds (SEC-58)."""

import random
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.identity.deciding.held import NOWHERE, Place, catalogue, held, over_time
from tests.domains.identity.inviting import accept, address, invite, with_address
from tests.domains.identity.test_roles import BECAUSE, assign, give, make, move
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.letters import Letters
from tests.planting import plant
from tests.settling import Settle
from tests.suites.sizes import size
from thenga.domains.identity.services.roles import rights, role_assignments
from thenga.domains.identity.tables import (
    AssignmentStatus,
    CustomRole,
    Membership,
    PermissionAssignment,
    RoleStatus,
)
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

ROLES = size(25, 400)
SOMEWHERE = Place("organization.equipment", "e1")
MANAGING = ("identity:role_assignment:manage", "identity:invitation:create")
MANAGING += ("identity:membership:create", "identity:membership:manage", "identity:role:manage")
MANAGING += ("identity:permission_assignment:manage",)
CANCEL, READ = "billing:subscription:cancel", "organization:equipment:read"


async def random_role(
    work: Work, chance: random.Random, codes: list[str], *, denies: bool
) -> CustomRole:
    """A role with own permissions and with single ones: now, later, over, revoked, on a place."""
    role = await work.add(
        CustomRole(
            organization_id=work.organization_id,
            code=f"r_{uuid4().hex[:12]}",
            name="Random",
            permissions=chance.sample(codes, chance.randrange(1, 6)),
            status=RoleStatus.ACTIVE,
        )
    )
    effects = ("allow", "allow", "deny") if denies else ("allow",)
    for code in chance.sample(codes, chance.randrange(8)):
        starts = chance.choice((timedelta(days=-2), timedelta(days=-2), timedelta(days=1)))
        ends = chance.choice((None, None, timedelta(days=-1), timedelta(days=4)))
        placed = chance.random() < 0.3
        await work.add(
            PermissionAssignment(
                organization_id=work.organization_id,
                target_type="role",
                target_id=role.id,
                permission=code,
                effect=chance.choice(effects),
                status=chance.choice((AssignmentStatus.ACTIVE,) * 3 + (AssignmentStatus.REVOKED,)),
                valid_from=work.now + starts,
                valid_to=None if ends is None else work.now + ends,
                scope_domain="organization" if placed else None,
                scope_type="equipment" if placed else None,
                scope_id="e1" if placed else None,
            )
        )
    return role


async def compared(host: Host, count: int, *, denies: bool) -> tuple[int, int]:
    """Roles whose `granting` differs from the gate, and roles where the gate gives more."""
    chance, codes = random.Random(58), await catalogue(host)
    owner = await people.member(host, uuid4(), role="owner")
    different = beyond = 0
    for _ in range(count):
        member = await people.member(host, owner.organization_id, role="nothing_at_all")
        work = people.working(host, owner.organization_id)
        role = await random_role(work, chance, codes, denies=denies)
        granted = (await rights.permissions_given_by(work, [role.code], work.now)).permissions
        membership = await work.get(Membership, member.membership_id)
        await role_assignments.give_role(work, membership, role_code=role.code, at=work.now)
        await work.finish()
        moments = await over_time(host, member, 0, 2, places=(NOWHERE, SOMEWHERE))
        allowed = frozenset[str]().union(*moments)
        different += granted != allowed
        beyond += not allowed <= granted
    return different, beyond


@pytest.mark.rule("SEC-58")
async def test_granting_is_what_the_gate_allows_a_holder(host: Host, seeded: None):
    different, _ = await compared(host, ROLES, denies=False)
    _, beyond = await compared(host, ROLES, denies=True)

    print(f"random_roles={2 * ROLES} differences={different} gate_gives_more={beyond}")
    assert (different, beyond) == (0, 0)


async def test_a_planted_count_of_own_permissions_only_is_found(
    host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    async def own_only(read: Any, codes: set[str], at: Any) -> frozenset[str]:
        customs = await rights.custom_roles(read, codes)
        return frozenset(code for one in customs.values() for code in one.permissions)

    plant(monkeypatch, rights, "_all_given", own_only)

    different, beyond = await compared(host, 10, denies=False)

    print(f"planted: differences={different} gate_gives_more={beyond}")
    assert different and beyond


@pytest.mark.rule("SEC-58")
async def test_members_holding_a_permission_are_those_of_the_gate(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    chance, codes = random.Random(66), await catalogue(host)
    owner = await people.member(host, uuid4(), role="owner")
    members = [owner]
    for _ in range(6):
        member = await people.member(host, owner.organization_id, role="nothing_at_all")
        work = people.working(host, owner.organization_id)
        role = await random_role(work, chance, codes[:12], denies=True)
        membership = await work.get(Membership, member.membership_id)
        await role_assignments.give_role(work, membership, role_code=role.code, at=work.now)
        await people.permission(
            work, member, chance.choice(codes[:12]), effect=chance.choice(("allow", "deny"))
        )
        await work.finish()
        members.append(member)

    for code in codes[:12]:
        path = f"/identity/organizations/{owner.organization_id}/members?holding={code}"
        found = (await api.get(path, headers=owner.headers)).json()["items"]
        gate = {str(one.user_id) for one in members if await held(host, one, codes=[code])}
        listed = {one["userId"] for one in found}
        scoped = await scoped_only(host, members, code)
        assert listed == gate - scoped, code


async def scoped_only(host: Host, members: list[Member], code: str) -> set[str]:
    """Whoever holds it on some resource only, which the gate lets into a list of those."""
    found = set()
    for one in members:
        work = people.working(host, one.organization_id)
        mine = await rights.rights_of_member(work, one.membership_id, work.now)
        await work.close()
        if not any(right.permission == code and right.scope is None for right in mine):
            found.add(str(one.user_id))
    return found


async def clerk_and_role(
    api: httpx2.AsyncClient, host: Host
) -> tuple[Member, Member, dict[str, Any]]:
    """A clerk who manages members, and a role that has CANCEL by an assignment alone."""
    owner = await people.member(host, uuid4(), role="owner")
    clerk = await people.member(host, owner.organization_id, role="nothing_at_all")
    work = people.working(host, owner.organization_id)
    for code in (*MANAGING, READ):
        await people.permission(work, clerk, code, effect="allow")
    await work.finish()
    role = (await make(api, owner, READ)).json()
    await move(api, owner, role["id"], "activate")
    return owner, clerk, role


async def grow(api: httpx2.AsyncClient, owner: Member, role: dict[str, Any]) -> None:
    grown = await assign(api, owner, {"type": "role", "id": role["id"]}, CANCEL, "allow")
    assert grown.status_code == 201, grown.text


async def ask(api: httpx2.AsyncClient, by: Member, user_id: UUID, *roles: str) -> httpx2.Response:
    body = {"organizationId": str(by.organization_id), "userId": str(user_id)}
    asked = body | {"roleCodes": list(roles), **BECAUSE}
    return await api.post("/identity/memberships", json=asked, headers=by.acting)


@pytest.mark.rule("SEC-58")
async def test_a_clerk_gives_no_role_beyond_their_own_rights(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner, clerk, role = await clerk_and_role(api, host)
    member = await people.member(host, owner.organization_id, role="nothing_at_all")
    stranger = await people.person(host)
    draft = (await make(api, owner, READ)).json()
    await grow(api, owner, role)
    await grow(api, owner, draft)
    away = f"/identity/memberships/{member.membership_id}"
    target = {"type": "role", "id": role["id"]}

    answers = {
        "give": await give(api, clerk, member, role["code"]),
        "invite": await invite(api, clerk, address(), role["code"]),
        "ask": await ask(api, clerk, stranger.user_id, role["code"]),
        "allow on a role": await assign(
            api, clerk, target, "organization:equipment:create", "allow"
        ),
        "activate": await move(api, clerk, draft["id"], "activate"),
    }
    await give(api, owner, member, role["code"])
    await api.post(f"{away}/deactivate", json=BECAUSE, headers=owner.acting)
    answers["reactivate"] = await api.post(f"{away}/reactivate", json=BECAUSE, headers=clerk.acting)

    refused = {name: (one.status_code, one.json().get("code")) for name, one in answers.items()}
    print(f"beyond_own_rights: {[status for status, _ in refused.values()]}")
    assert set(refused.values()) == {(403, "identity-grant-above-own")}, refused


@pytest.mark.rule("SEC-58")
async def test_a_role_that_grew_voids_what_a_clerk_offered(
    api: httpx2.AsyncClient, host: Host, seeded: None, letters: Letters, settle: Settle
):
    owner, clerk, role = await clerk_and_role(api, host)
    email, known = address(), await people.person(host)
    invited = await with_address(host, email)
    sent = await invite(api, clerk, email, role["code"])
    asked = await ask(api, clerk, known.user_id, role["code"])
    assert (sent.status_code, asked.status_code) == (201, 201), (sent.text, asked.text)
    token = await letters.link_to(email)
    await grow(api, owner, role)

    by_letter = await accept(api, sent.json()["id"], token, invited)
    path = f"/identity/memberships/{asked.json()['id']}/accept"
    by_request = await api.post(path, headers=known.headers)

    assert (by_letter.status_code, by_letter.json()["code"]) == (409, "identity-invitation-void")
    assert (by_request.status_code, by_request.json()["code"]) == (409, "identity-membership-void")


@pytest.mark.rule("SEC-58")
async def test_a_giver_who_lost_the_right_gives_nothing_later(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner, clerk, role = await clerk_and_role(api, host)
    first, second = await people.person(host), await people.person(host)
    kept = await ask(api, clerk, first.user_id, role["code"])
    lost = await ask(api, clerk, second.user_id, role["code"])

    joined = await api.post(
        f"/identity/memberships/{kept.json()['id']}/accept", headers=first.headers
    )
    target = {"type": "membership", "id": str(clerk.membership_id)}
    await assign(api, owner, target, READ, "deny")
    void = await api.post(
        f"/identity/memberships/{lost.json()['id']}/accept", headers=second.headers
    )

    assert (joined.status_code, joined.json()["status"]) == (200, "active")
    assert (void.status_code, void.json()["code"]) == (409, "identity-membership-void")
