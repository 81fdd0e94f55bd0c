"""Organization users: references from Identity's events, names asked when shown."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests.factories import identity as people
from tests.factories import organization
from tests.planting import plant
from tests.settling import Settle
from tests.through_json import through_json
from thenga.domains.identity import public as identity
from thenga.domains.identity.provider import LocalPeople
from thenga.domains.identity.tables import Membership, MembershipStatus
from thenga.domains.organization.reactions import reactions
from thenga.domains.organization.services.people import users
from thenga.kernel.declare.event import Envelope
from thenga.kernel.process.host import Host

AUTHORITY = {
    "evidenceRef": {"domain": "compliance", "type": "document", "id": str(uuid4())},
    "validFrom": "2026-01-01",
    "validTo": None,
    "limit": {"amount": "500000.00", "currency": "ZAR"},
}


class Counting(identity.People):
    """Identity, counted; or silent."""

    def __init__(self, inner: identity.People) -> None:
        self._inner = inner
        self.calls = 0
        self.silent = False

    async def describe(self, *, user_ids: list[UUID]) -> list[identity.PersonCard]:
        self.calls += 1
        if self.silent:
            await asyncio.sleep(60)
        return await self._inner.describe(user_ids=user_ids)


@pytest.fixture
async def asked(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Counting]:
    bindings = app.state.shared.host.bindings
    counting = Counting(bindings.of(identity.People))
    bound = bindings._bound | {identity.People: through_json(identity.People, counting)}
    monkeypatch.setattr(bindings, "_bound", bound)
    yield counting


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def path(owner: people.Member, rest: str = "") -> str:
    return f"/organizations/{owner.organization_id}/users{rest}"


async def add(api: httpx2.AsyncClient, owner: people.Member, **fields: Any) -> httpx2.Response:
    return await api.post(path(owner), json=fields, headers=owner.headers)


async def listed(api: httpx2.AsyncClient, owner: people.Member, query: str = "") -> list[Any]:
    found = await api.get(path(owner) + query, headers=owner.headers)
    items: list[Any] = found.json()["items"]
    return items


async def deliver(host: Host, owner: people.Member, name: str, **data: Any) -> None:
    """An event of Identity, taken as its reactions take it."""
    for reaction in (r for r in reactions.all if r.event_type == f"identity.{name}.v1"):
        work = organization.working(host, owner.user_id, owner.organization_id)
        told = Envelope.model_validate(
            {
                "id": uuid4(),
                "type": reaction.event_type,
                "source": "/identity",
                "subject": "x/y",
                "time": work.now,
                "sequence": 1,
                "data": data,
            }
        )
        await reaction.handle(work, told)
        await work.finish()


@pytest.mark.rule("ORG-31")
async def test_member_follows_the_events_of_identity(
    api: httpx2.AsyncClient, owner: people.Member, host: Host, settle: Settle
):
    clerk = await people.member(host, owner.organization_id, role="contributor")

    async def known() -> bool:
        return len(await listed(api, owner)) == 2

    await settle(known)
    body = {"bidRoles": ["signatory"], "signingAuthority": AUTHORITY}
    made = await add(api, owner, membershipId=str(clerk.membership_id), **body)
    one = path(owner, f"/{made.json()['id']}")
    await _remove(host, clerk)

    async def left() -> Any:
        read = (await api.get(one, headers=owner.headers)).json()
        return read if read["status"] == "left" else None

    after = await settle(left)
    assert made.json()["signingAuthority"]["inForce"]
    assert made.json()["signingAuthority"]["limit"] == AUTHORITY["limit"]
    assert (after["signingAuthority"], after["membershipStatus"]) == (None, "removed")
    assert after["version"] == 2


async def _remove(host: Host, who: people.Member) -> None:
    work = people.working(host, who.organization_id)
    membership = await work.lock(Membership, who.membership_id)
    membership.status = MembershipStatus.REMOVED
    await work.save(membership)
    work.publish(
        identity.MembershipChanged(
            organization_id=who.organization_id,
            membership_id=who.membership_id,
            user_id=who.user_id,
            status="removed",
            previous_status="active",
            role_codes=[],
            seats_used=0,
        )
    )
    await work.finish()


@pytest.mark.rule("ORG-31")
async def test_names_come_from_identity_and_are_stored_nowhere(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    ref = await organization.member_ref(host, owner.organization_id, owner.user_id)
    before = await listed(api, owner, "?profiled=false")
    made = await add(api, owner, membershipId=str(ref.membership_id), jobTitle="Owner")
    one = path(owner, f"/{made.json()['id']}")

    read = await api.get(one, headers=owner.headers)
    version = await api.get(f"{one}/versions/1", headers=owner.headers)
    twice = await add(api, owner, membershipId=str(ref.membership_id))
    after = await listed(api, owner)

    assert (before[0]["profile"], before[0]["displayName"]) == (None, "Lindiwe Mokoena")
    assert (made.status_code, read.json()) == (201, made.json())
    assert read.json()["email"] == f"{owner.user_id}@example.test"
    assert (read.json()["identityState"], read.json()["status"]) == ("live", "active")
    assert version.json()["snapshot"]["jobTitle"] == "Owner"
    assert "Lindiwe" not in version.text
    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert after[0]["profile"] == made.json()


async def test_users_are_filtered_changed_and_archived(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    user = await organization.organization_user(host, owner.organization_id, owner.user_id)
    await organization.member_ref(host, owner.organization_id, uuid4())
    one = path(owner, f"/{user.id}")

    async def count(query: str) -> int:
        return len(await listed(api, owner, query))

    assert [await count(q) for q in ("", "?profiled=true", "?profiled=false")] == [2, 1, 1]
    assert [await count(f"?bidRole={r}") for r in ("estimator", "reviewer")] == [1, 0]
    assert [await count(f"?status={s}") for s in ("active", "invited", "left")] == [2, 0, 0]

    signing = await api.patch(one, json={"bidRoles": ["signatory"]}, headers=owner.headers)
    changed = await api.patch(one, json={"department": "Bids"}, headers=owner.headers)
    gone = await api.delete(one, headers=owner.headers)
    versions = await api.get(f"{one}/versions", headers=owner.headers)

    assert (signing.status_code, signing.json()["code"]) == (422, "rule-violated")
    assert (changed.json()["department"], gone.status_code) == ("Bids", 204)
    assert [await count("?profiled=true"), await count("?archived=true")] == [0, 1]
    assert [v["version"] for v in versions.json()["items"]] == [3, 2, 1]


@pytest.mark.rule("ORG-31")
async def test_invited_person_can_be_described_before_accepting(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    invitation, membership = uuid4(), uuid4()
    await deliver(host, owner, "InvitationSent", invitationId=str(invitation))
    made = await add(api, owner, invitationId=str(invitation), jobTitle="Estimator")
    one = path(owner, f"/{made.json()['id']}")
    accepted = {"membershipId": str(membership), "userId": str(owner.user_id)}

    # The membership may be told before the acceptance: they are two aggregates.
    member = accepted | {"organizationId": str(owner.organization_id), "roleCodes": []}
    state = {"status": "active", "previousStatus": None, "seatsUsed": 1}
    await deliver(host, owner, "MembershipChanged", **member, **state)
    await deliver(host, owner, "InvitationAccepted", invitationId=str(invitation), **accepted)
    await deliver(host, owner, "InvitationAccepted", invitationId=str(invitation), **accepted)
    after = (await api.get(one, headers=owner.headers)).json()

    assert made.json()["status"] == "invited"
    assert (after["status"], after["membershipId"]) == ("active", str(membership))
    assert (after["jobTitle"], after["version"]) == ("Estimator", 2)
    assert len(await listed(api, owner)) == 1


async def test_an_invitation_that_ended_leads_to_nobody(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    invitation = uuid4()
    for name in ("InvitationSent", "InvitationEnded", "InvitationSent"):
        await deliver(host, owner, name, invitationId=str(invitation))

    assert [one["status"] for one in await listed(api, owner)] == ["left"]


@pytest.mark.rule("ORG-31")
async def test_a_foreign_membership_is_refused_as_a_random_one(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    other = await people.member(host, uuid4(), role="owner")
    foreign = await organization.member_ref(host, other.organization_id, other.user_id)

    answers = [await add(api, owner, membershipId=str(i)) for i in (foreign.membership_id, uuid4())]
    contacts = [
        await api.post(
            f"/organizations/{owner.organization_id}/contacts",
            json={"kind": "bids", "name": "N", "email": "n@x.example", "userId": str(user)},
            headers=owner.headers,
        )
        for user in (other.user_id, uuid4())
    ]

    for pair in (answers, contacts):
        told = [{**a.json(), "requestId": "", "instance": ""} for a in pair]
        assert told[0] == told[1]
        assert told[0]["code"] == "organization-unknown-membership"
        assert told[0]["remedy"]["operation"] == "POST /identity/invitations"
        assert [a.status_code for a in pair] == [422, 422]


async def test_either_a_membership_or_an_invitation_is_named(
    api: httpx2.AsyncClient, owner: people.Member
):
    both = await add(api, owner, membershipId=str(uuid4()), invitationId=str(uuid4()))
    none = await add(api, owner)

    assert [a.json()["code"] for a in (both, none)] == ["rule-violated"] * 2


async def many(host: Host, owner: people.Member, count: int) -> None:
    """As many members, each with an account, in one transaction a domain."""
    known = [await people.person(host) for _ in range(3)]
    work = organization.working(host, owner.user_id, owner.organization_id)
    for number in range(count):
        await organization.member_refs.follow_membership(
            work,
            membership_id=uuid4(),
            user_id=known[number % 3].user_id,
            status="active",
            owner=False,
            sequence=1,
        )
    await work.finish()


@pytest.mark.rule("ORG-31")
async def test_two_hundred_users_are_one_question_to_identity(
    api: httpx2.AsyncClient, owner: people.Member, host: Host, asked: Counting
):
    await many(host, owner, 200)

    found = await listed(api, owner, "?limit=200")

    print(f"identity_calls={asked.calls}")
    assert (len(found), asked.calls) == (200, 1)
    assert {one["displayName"] for one in found} == {"Lindiwe Mokoena"}


async def test_a_planted_question_for_each_user_is_counted(
    api: httpx2.AsyncClient,
    owner: people.Member,
    host: Host,
    asked: Counting,
    monkeypatch: pytest.MonkeyPatch,
):
    together = users._describe

    async def one_by_one(read: Any, pairs: Any) -> Any:
        return [one for pair in pairs for one in await together(read, [pair])]

    plant(monkeypatch, users, "_describe", one_by_one)
    await many(host, owner, 20)

    await listed(api, owner, "?limit=200")

    assert asked.calls == 20


@pytest.mark.rule("ORG-31")
async def test_while_identity_is_silent_users_are_listed_without_names(
    api: httpx2.AsyncClient,
    owner: people.Member,
    host: Host,
    asked: Counting,
    monkeypatch: pytest.MonkeyPatch,
):
    await many(host, owner, 2)
    monkeypatch.setattr(identity.People, "port_timeout", 0.5)
    asked.silent = True

    found = await api.get(path(owner), headers=owner.headers)

    assert found.status_code == 200
    shown = {(one["displayName"], one["identityState"]) for one in found.json()["items"]}
    assert shown == {(None, "unavailable")}


@pytest.mark.parametrize("wire", [False, True], ids=["in process", "through JSON"])
async def test_identity_describes_many_people_at_once(
    host: Host, api: httpx2.AsyncClient, owner: people.Member, wire: bool
) -> None:
    local: identity.People = LocalPeople(host)
    port = through_json(identity.People, local) if wire else local
    path = f"/identity/users/{owner.user_id}"
    await api.patch(path, json={"phone": "082 123 4567"}, headers=owner.headers)

    cards = await port.describe(user_ids=[owner.user_id, uuid4()])

    assert [card.user_id for card in cards] == [owner.user_id]
    assert cards[0].organization_ids == [owner.organization_id]
    assert (cards[0].display_name, cards[0].status) == ("Lindiwe Mokoena", "active")
    assert cards[0].phone == "+27821234567"
