"""Members: asked, joining, leaving, shut out; an owner always stays."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from sqlalchemy import select

from tests import statements
from tests.factories import identity as people
from tests.factories import organization
from tests.factories.identity import Member, Person
from tests.planting import plant
from thenga.domains.identity.services import memberships
from thenga.domains.identity.services.memberships import _moving
from thenga.domains.identity.services.organizations import organization_lock
from thenga.domains.identity.services.organizations.organization_lock import Tenant
from thenga.domains.identity.services.roles import own_roles, role_assignments
from thenga.domains.identity.tables import Membership, TenantMirror
from thenga.domains.organization.services.facts import cards as facts
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.process.host import Host

BECAUSE = {"reason": "The team changes"}


async def ask(
    api: httpx2.AsyncClient, by: Member, user_id: UUID, *roles: str, **more: Any
) -> httpx2.Response:
    body = {
        "organizationId": str(by.organization_id),
        "userId": str(user_id),
        "roleCodes": list(roles or ("viewer",)),
        "reason": "We work together",
    } | more
    return await api.post("/identity/memberships", json=body, headers=by.acting)


async def answer(api: httpx2.AsyncClient, who: Person, key: str, verb: str) -> httpx2.Response:
    return await api.post(f"/identity/memberships/{key}/{verb}", headers=who.headers)


async def manage(api: httpx2.AsyncClient, by: Member, key: object, verb: str) -> httpx2.Response:
    path = f"/identity/memberships/{key}/{verb}"
    return await api.post(path, json=BECAUSE, headers=by.acting)


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.mark.rule("IDN-18")
async def test_accepting_a_request_joins_and_shows_the_card(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    somebody = await people.person(host)

    asked = await ask(api, owner, somebody.user_id, "contributor", title="Estimator")
    key = asked.json()["id"]
    hidden = await api.get(f"/identity/memberships/{key}", headers=owner.acting)
    own = await api.get("/identity/memberships", headers=somebody.headers)
    joined = await answer(api, somebody, key, "accept")
    again = await answer(api, somebody, key, "accept")
    shown = await api.get(f"/identity/memberships/{key}", headers=owner.acting)

    assert (asked.status_code, asked.json()["status"]) == (201, "pending")
    assert (hidden.json()["displayName"], hidden.json()["email"]) == (None, None)
    assert [one["id"] for one in own.json()["items"]] == [key]
    assert own.json()["items"][0]["roleCodes"] == ["contributor"]
    assert (joined.status_code, joined.json()["status"]) == (200, "active")
    assert again.json() == joined.json()
    assert shown.json()["displayName"] == "Lindiwe Mokoena"
    assert shown.json()["title"] == "Estimator"


async def test_memberships_carry_the_name_of_the_organization(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    who = await people.person(host)
    company = await organization.organization(host, who.user_id, name="Khumalo Civils")
    await people.member(host, company.id, role="owner", who=who)
    unknown = await people.member(host, uuid4(), role="viewer", who=who)

    listed = (await api.get("/identity/memberships", headers=who.headers)).json()["items"]
    me = (await api.get("/identity/me", headers=who.headers)).json()["memberships"]
    alone = await api.get(f"/identity/memberships/{listed[0]['id']}", headers=who.headers)

    names = {str(company.id): "Khumalo Civils", str(unknown.organization_id): None}
    assert {each["organizationId"]: each["organizationName"] for each in listed} == names
    assert {each["organizationId"]: each["organizationName"] for each in me} == names
    assert alone.json()["organizationName"] == names[listed[0]["organizationId"]]


async def test_memberships_are_listed_while_organization_is_silent(
    api: httpx2.AsyncClient, owner: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: object) -> dict[UUID, str]:
        raise DependencyUnavailable(dependency="organization.profiles")

    plant(monkeypatch, facts, "cards_of", silent)

    listed = await api.get("/identity/memberships", headers=owner.headers)
    me = await api.get("/identity/me", headers=owner.headers)

    assert [each["organizationName"] for each in listed.json()["items"]] == [None]
    assert [each["organizationName"] for each in me.json()["memberships"]] == [None]


async def test_leaver_returns_only_with_a_new_membership(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    somebody = await people.person(host)
    first = (await ask(api, owner, somebody.user_id)).json()["id"]

    declined = await answer(api, somebody, first, "decline")
    second = (await ask(api, owner, somebody.user_id)).json()["id"]
    twice = await ask(api, owner, somebody.user_id)
    await answer(api, somebody, second, "accept")
    left = await answer(api, somebody, second, "leave")

    assert (declined.status_code, declined.json()["status"]) == (200, "removed")
    assert second != first
    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert twice.json()["existing"] == {"domain": "identity", "type": "membership", "id": second}
    assert (left.json()["status"], left.json()["roleCodes"]) == ("removed", [])
    assert left.json()["statusReason"]["code"] == "left"


async def test_deactivated_member_is_refused_until_reactivated(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    viewer = await people.member(host, owner.organization_id, role="viewer")
    path = f"/identity/organizations/{owner.organization_id}/members"

    async def enters() -> int:
        return (await api.get(path, headers=viewer.headers)).status_code

    before = await enters()
    out = await manage(api, owner, viewer.membership_id, "deactivate")
    shut_out = await enters()
    back = await manage(api, owner, viewer.membership_id, "reactivate")
    let_in = await enters()
    gone = await manage(api, owner, viewer.membership_id, "remove")

    assert [out.json()["status"], back.json()["status"]] == ["inactive", "active"]
    assert (before, shut_out, let_in, await enters()) == (200, 404, 200, 404)
    assert gone.json()["statusReason"] == {"code": "removed", "text": BECAUSE["reason"]}


async def test_an_administrator_does_not_change_an_owner(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    administrator = await people.member(host, owner.organization_id, role="administrator")
    await people.member(host, owner.organization_id, role="owner")

    removed = await manage(api, administrator, owner.membership_id, "remove")
    asked = await ask(api, administrator, (await people.person(host)).user_id, "owner")

    assert (removed.status_code, removed.json()["code"]) == (403, "identity-grant-above-own")
    assert (asked.status_code, asked.json()["code"]) == (403, "identity-grant-above-own")


@pytest.mark.rule("IDN-18")
async def test_staff_belong_to_no_organization(api: httpx2.AsyncClient, host: Host, owner: Member):
    staff = await people.person(host, staff=True)

    asked = await ask(api, owner, staff.user_id)
    unknown = await ask(api, owner, uuid4())

    assert (asked.status_code, asked.json()["rule"]) == (422, "IDN-18")
    assert unknown.status_code == 404


@pytest.mark.rule("IDN-18")
async def test_staff_who_found_an_organization_do_not_own_it(host: Host, seeded: None):
    staff, company = await people.person(host, staff=True), uuid4()
    work = people.working(host, company)
    await memberships.found(
        work, company, founder=staff.user_id, status="active", sandbox=False, sequence=0
    )
    await work.finish()

    work = people.working(host, company)
    found = await work.all(select(Membership).where(Membership.organization_id == company))
    mirror = await work.find(TenantMirror)
    await work.close()

    assert (found, mirror is not None) == ([], True)


async def remove_each_other(
    api: httpx2.AsyncClient, first: Member, second: Member
) -> list[tuple[int, str]]:
    """Two owners remove each other at the same moment; status and code of both answers."""
    answers = await asyncio.gather(
        manage(api, first, second.membership_id, "remove"),
        manage(api, second, first.membership_id, "remove"),
    )
    return sorted((a.status_code, a.json().get("code", a.json().get("status"))) for a in answers)


@pytest.mark.rule("IDN-19")
async def test_of_two_owners_who_remove_each_other_one_stays(
    api: httpx2.AsyncClient, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    other = await people.member(host, owner.organization_id, role="owner")
    both_entered = asyncio.Barrier(2)  # who is removed before would not be let in at all
    lock = organization_lock.lock_organization

    async def lock_together(work: Work) -> Tenant:
        await both_entered.wait()
        return await lock(work)

    plant(monkeypatch, organization_lock, "lock_organization", lock_together)

    answers = await remove_each_other(api, owner, other)

    print(f"owners=2 removals={answers}")
    assert answers == [(200, "removed"), (409, "identity-last-owner")]


async def test_planted_removal_without_organization_lock_is_found(
    api: httpx2.AsyncClient, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    other = await people.member(host, owner.organization_id, role="owner")
    both_looked = asyncio.Barrier(2)
    guard = _moving._guard_owner

    async def unlocked(work: Work) -> Tenant:
        return await organization_lock.find_organization(work)

    async def looks_and_waits(*looked: Any) -> None:
        await guard(*looked)  # the last look before the first write
        await both_looked.wait()

    plant(monkeypatch, organization_lock, "lock_organization", unlocked)
    monkeypatch.setattr(_moving, "_guard_owner", looks_and_waits)

    answers = await remove_each_other(api, owner, other)

    assert answers == [(200, "removed"), (200, "removed")]


@pytest.mark.rule("IDN-19")
async def test_the_last_owner_can_neither_leave_nor_be_shut_out(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    disabled = await people.person(host, status=people.UserStatus.DISABLED)
    await people.member(host, owner.organization_id, role="owner", who=disabled)

    left = await answer(api, owner, str(owner.membership_id), "leave")
    out = await manage(api, owner, owner.membership_id, "deactivate")

    assert (left.status_code, left.json()["code"]) == (409, "identity-last-owner")
    assert (out.status_code, out.json()["code"]) == (409, "identity-last-owner")


async def test_members_are_found_by_role_name_and_what_they_hold(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    viewer = await people.member(host, owner.organization_id, role="viewer")
    await people.member(host, owner.organization_id, role="bid_manager")
    path = f"/identity/organizations/{owner.organization_id}/members"

    async def found(query: str) -> list[str]:
        answer = await api.get(f"{path}{query}", headers=owner.headers)
        assert answer.status_code == 200, answer.text
        return [one["roleCodes"][0] for one in answer.json()["items"]]

    assert await found("?roleCode=viewer") == ["viewer"]
    assert sorted(await found("?holding=organization:equipment:create")) == ["bid_manager", "owner"]
    assert sorted(await found("?holding=organization:equipment:read")) == [
        "bid_manager",
        "owner",
        "viewer",
    ]
    assert await found("?holding=nobody:holds:this") == []
    assert len(await found("?q=lind")) == 3
    assert await found("?q=zz") == []
    assert await found("?status=removed") == []
    assert len(await found("?sort=-displayName&limit=2")) == 2
    assert len(await found("?sort=joinedAt&aal2Ready=false")) == 3
    effective = await api.get(
        f"/identity/memberships/{viewer.membership_id}/effective-permissions",
        headers=owner.acting,
    )
    held = {one["permission"]: one["via"] for one in effective.json()["items"]}
    assert held["organization:equipment:read"] == ["role:viewer"]
    assert "organization:equipment:create" not in held


async def test_a_new_name_stands_on_every_card_of_the_person(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    body = {"displayName": "Lindiwe Dlamini"}
    await api.patch(f"/identity/users/{owner.user_id}", json=body, headers=owner.headers)

    shown = await api.get(f"/identity/memberships/{owner.membership_id}", headers=owner.acting)

    assert shown.json()["displayName"] == "Lindiwe Dlamini"


async def test_own_membership_is_readable_without_acting_for_it(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    viewer = await people.member(host, owner.organization_id, role="viewer")
    path = f"/identity/memberships/{viewer.membership_id}"

    own = await api.get(path, headers=viewer.headers)
    rights = await api.get(f"{path}/effective-permissions", headers=viewer.headers)
    strangers = await api.get(path, headers=(await people.person(host)).headers)
    bare = await people.member(host, owner.organization_id, role="nothing_at_all")
    list_path = f"/identity/organizations/{owner.organization_id}/members"
    without_role = await api.get(list_path, headers=bare.headers)
    staff = await people.staff(host, "platform_auditor")
    by_staff = await api.get(list_path, headers=staff.headers)

    assert (own.status_code, own.json()["roleCodes"]) == (200, ["viewer"])
    assert rights.status_code == 200
    assert strangers.status_code == 404
    assert (without_role.status_code, without_role.json()["remedy"]["kind"]) == (403, "ask_role")
    assert (by_staff.status_code, len(by_staff.json()["items"])) == (200, 3)


async def belonging(host: Host, count: int) -> Person:
    """Somebody with two roles, one of them over, in so many organizations."""
    who = await people.person(host)
    for _ in range(count):
        joined = await people.member(host, uuid4(), role="viewer", who=who)
        work = people.working(host, joined.organization_id)
        membership = await work.get(Membership, joined.membership_id)
        for code, ends in (("contributor", None), ("approver", work.now)):
            await role_assignments.give_role(
                work,
                membership,
                role_code=code,
                at=work.now - timedelta(hours=1),
                valid_to=ends,
            )
        await work.finish()
    return who


async def own(api: httpx2.AsyncClient, who: Person) -> tuple[list[list[str]], int]:
    """The roles in each organization of the person's own list, and how many statements it took."""
    with statements.counted() as sent:
        answer = await api.get("/identity/memberships?limit=50", headers=who.headers)
    assert answer.status_code == 200, answer.text
    return [one["roleCodes"] for one in answer.json()["items"]], len(sent)


async def test_own_memberships_take_a_constant_number_of_statements(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    one, ten = await belonging(host, 1), await belonging(host, 10)
    await own(api, one)  # from here on the connections are made

    alone, for_one = await own(api, one)
    many, for_ten = await own(api, ten)

    print(f"organizations=1 statements={for_one} organizations=10 statements={for_ten}")
    assert alone == [["contributor", "viewer"]]
    assert many == [["contributor", "viewer"]] * 10
    assert for_ten == for_one


async def test_a_planted_read_of_each_organization_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    one, ten = await belonging(host, 1), await belonging(host, 10)
    at_once = own_roles.own_role_codes

    async def one_by_one(host: Host, user_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[str]]:
        found: dict[UUID, list[str]] = {}
        for each in ids:
            found |= await at_once(host, user_id, [each])
        return found

    plant(monkeypatch, own_roles, "own_role_codes", one_by_one)
    await own(api, one)
    _, for_one = await own(api, one)
    many, for_ten = await own(api, ten)

    print(f"planted: organizations=10 statements={for_ten}")
    assert many == [["contributor", "viewer"]] * 10
    assert for_ten == for_one + 9


async def test_ones_own_list_shows_roles_of_nobody_else(host: Host, seeded: None):
    mine, theirs = await belonging(host, 1), await belonging(host, 1)
    work = people.working(host, user_id=theirs.user_id)
    ids = await work.values(select(Membership.id).where(Membership.user_id == theirs.user_id))
    await work.close()

    assert len(await own_roles.own_role_codes(host, theirs.user_id, ids)) == 1
    assert await own_roles.own_role_codes(host, mine.user_id, ids) == {}
