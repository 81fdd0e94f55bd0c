"""Seats of the plan: each person counts once, and an open invitation keeps one."""

import asyncio
from uuid import uuid4

import httpx2
import pytest

from tests.domains.identity.inviting import (
    PASSWORD,
    accept,
    address,
    invite,
    plan,
    seats_used,
    told,
    with_address,
)
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.letters import Letters
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.identity.services.memberships import seats
from thenga.domains.identity.services.organizations import organization_lock
from thenga.domains.identity.services.organizations.organization_lock import Tenant
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await people.member(host, uuid4(), role="owner")


async def race_for_a_seat(api: httpx2.AsyncClient, owner: Member) -> list[httpx2.Response]:
    answers = await asyncio.gather(*(invite(api, owner, address()) for _ in range(2)))
    return sorted(answers, key=lambda answer: answer.status_code)


async def full(api: httpx2.AsyncClient, host: Host, owner: Member) -> str:
    """Five seats used of five; the membership of one who could go."""
    viewer = await people.member(host, owner.organization_id, role="viewer")
    await people.member(host, owner.organization_id, role="viewer")
    for _ in range(2):
        assert (await invite(api, owner, address())).status_code == 201
    await plan(host, owner.organization_id, 5)
    assert await seats_used(host, owner.organization_id) == 5
    return str(viewer.membership_id)


@pytest.mark.rule("IDN-22")
async def test_two_invitations_that_race_for_a_freed_seat_get_one(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    goes = await full(api, host, owner)
    refused = await invite(api, owner, address())
    path = f"/identity/memberships/{goes}/remove"
    await api.post(path, json={"reason": "Left"}, headers=owner.acting)

    won, lost = await race_for_a_seat(api, owner)

    told_of = {name: lost.json()[name] for name in ("code", "limit", "used", "entitlement")}
    print(f"seats limit=5 race=[{won.status_code}, {lost.status_code}] {told_of}")
    assert (refused.status_code, refused.json()["used"]) == (402, 5)
    assert (won.status_code, lost.status_code) == (201, 402)
    assert told_of == {
        "code": "plan-limit-reached",
        "limit": 5,
        "used": 5,
        "entitlement": "identity.seats",
    }


async def test_a_planted_count_without_the_lock_is_found(
    api: httpx2.AsyncClient, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    goes = await full(api, host, owner)
    await api.post(
        f"/identity/memberships/{goes}/remove", json={"reason": "Left"}, headers=owner.acting
    )
    both_counted, must_fit = asyncio.Barrier(2), seats.must_fit

    async def counts_and_waits(work: Work, tenant: Tenant, before: seats.Room) -> int:
        after = await must_fit(work, tenant, before)
        await both_counted.wait()
        return after

    unlocked = organization_lock.find_organization
    plant(monkeypatch, organization_lock, "lock_organization", unlocked)
    plant(monkeypatch, seats, "must_fit", counts_and_waits)

    won, lost = await race_for_a_seat(api, owner)

    assert (won.status_code, lost.status_code) == (201, 201)


@pytest.mark.rule("IDN-22")
async def test_accepting_uses_the_reserved_seat_once(
    api: httpx2.AsyncClient, host: Host, owner: Member, letters: Letters, settle: Settle
):
    # Limit 5, three members, two open invitations, one of them to somebody who joined meanwhile.
    first, second = address(), address()
    await people.member(host, owner.organization_id, role="viewer")
    key = (await invite(api, owner, first)).json()["id"]
    await invite(api, owner, second)
    before = await seats_used(host, owner.organization_id)
    meanwhile = await with_address(host, second)
    await people.member(host, owner.organization_id, role="viewer", who=meanwhile)
    used = await seats_used(host, owner.organization_id)

    joined = await accept(
        api, key, await letters.link_to(first), displayName="Thabo", password=PASSWORD
    )
    after = await seats_used(host, owner.organization_id)

    (accepted,) = await told(host, owner.organization_id, "InvitationAccepted")
    changed = await told(host, owner.organization_id, "MembershipChanged")
    print(f"seats before={before} joined_meanwhile={used} accepted={after}")
    assert joined.status_code == 200
    assert (before, used, after) == (4, 4, 4)
    assert (accepted["seatsUsed"], changed[-1]["seatsUsed"]) == (4, 4)
