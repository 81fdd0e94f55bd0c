"""Invitations: letters, seats, who may accept, and what time does with them."""

import asyncio
from collections import Counter
from datetime import timedelta
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests.domains.identity.inviting import (
    PASSWORD,
    accept,
    address,
    invite,
    moved,
    swept,
    told,
    with_address,
)
from tests.factories import accounts
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.letters import Letters
from tests.planting import plant
from tests.set_clock import SetClock
from tests.settling import Settle
from thenga.domains.identity.services.accounts import member_cards
from thenga.domains.identity.services.invitations import _answering
from thenga.domains.identity.tables import (
    Invitation,
    InvitationStatus,
    UserStatus,
)
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.mark.rule("IDN-21")
async def test_new_person_joins_by_letter_code_and_is_signed_in(
    api: httpx2.AsyncClient, host: Host, owner: Member, letters: Letters, settle: Settle
):
    email = address()
    sent = await invite(api, owner, email, "viewer", message="Welcome to the team")
    key, token = sent.json()["id"], await letters.link_to(email)
    body = {"token": token}

    seen = await api.post("/identity/invitations/inspect", json=body)
    incomplete = await accept(api, key, token)
    joined = await accept(api, key, token, displayName="Thabo Nkosi", password=PASSWORD)
    bearer = {"Authorization": f"Bearer {joined.json()['session']['accessToken']}"}
    path = f"/identity/organizations/{owner.organization_id}/members"
    members = await api.get(path, headers=bearer)
    late = await accept(api, key, token, displayName="Thabo", password="another pass phrase here")

    assert sent.status_code == 201
    assert "Welcome to the team" not in await letters.to(email)
    assert seen.json()["message"] == "Welcome to the team"
    assert (seen.json()["roleNames"], seen.json()["accountExists"]) == (["Viewer"], False)
    assert seen.json()["invitedBy"] == "Lindiwe Mokoena"
    assert incomplete.status_code == 422
    assert {e["pointer"] for e in incomplete.json()["errors"]} == {"/displayName", "/password"}
    assert (joined.status_code, joined.json()["membership"]["status"]) == (200, "active")
    assert [one["displayName"] for one in members.json()["items"]][1] == "Thabo Nkosi"
    assert (late.status_code, late.json()["code"]) == (401, "unauthenticated")
    (tells,) = await told(host, owner.organization_id, "InvitationSent")
    assert tells["invitationId"] == key


@pytest.mark.rule("IDN-21")
async def test_a_forwarded_letter_a_lost_right_and_two_tabs(
    api: httpx2.AsyncClient, host: Host, owner: Member, letters: Letters, settle: Settle
):
    email = address()
    manager = await people.member(host, owner.organization_id, role="administrator")
    key = (await invite(api, manager, email)).json()["id"]
    token = await letters.link_to(email)
    right, wrong = await with_address(host, email), await people.person(host)

    forwarded = await accept(api, key, token, wrong)
    path = f"/identity/memberships/{manager.membership_id}"
    reason = {"reason": "On leave"}
    await api.post(f"{path}/deactivate", json=reason, headers=owner.acting)
    void = await accept(api, key, token, right)
    await api.post(f"{path}/reactivate", json=reason, headers=owner.acting)
    tabs = await asyncio.gather(*(accept(api, key, token, right) for _ in range(2)))

    made = {one.json()["membership"]["id"] for one in tabs}
    joined = await told(host, owner.organization_id, "InvitationAccepted")
    print(
        f"forwarded={forwarded.json()['code']} lost_right={void.json()['code']} "
        f"tabs={[one.status_code for one in tabs]} memberships={len(made)}"
    )
    assert (forwarded.status_code, forwarded.json()["code"]) == (403, "identity-other-address")
    assert (void.status_code, void.json()["code"]) == (409, "identity-invitation-void")
    assert [one.status_code for one in tabs] == [200, 200]
    assert (len(made), len(joined)) == (1, 1)


async def test_two_concurrent_joins_make_one_account_and_membership(
    api: httpx2.AsyncClient, host: Host, owner: Member, letters: Letters, settle: Settle
):
    email = address()
    key = (await invite(api, owner, email)).json()["id"]
    token = await letters.link_to(email)
    given = {"displayName": "Thabo Nkosi", "password": PASSWORD}

    tabs = await asyncio.gather(*(accept(api, key, token, **given) for _ in range(2)))

    assert [one.status_code for one in tabs] == [200, 200], [one.text for one in tabs]
    assert len({one.json()["membership"]["id"] for one in tabs}) == 1
    assert len({one.json()["session"]["session"]["id"] for one in tabs}) == 2


@pytest.mark.parametrize("broken", ["_ask_inviter_again", "cards"])
async def test_a_planted_acceptance_that_asks_too_little_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    letters: Letters,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
):
    email = address()
    manager = await people.member(host, owner.organization_id, role="administrator")
    key = (await invite(api, manager, email)).json()["id"]
    token = await letters.link_to(email)
    right, wrong = await with_address(host, email), await people.person(host)
    await api.post(
        f"/identity/memberships/{manager.membership_id}/deactivate",
        json={"reason": "On leave"},
        headers=owner.acting,
    )

    async def asks_nothing(*_: object) -> None:
        return None

    async def believes(work: Work, user_id: UUID) -> object:
        found = await _standing(work, user_id)
        assert found is not None
        invited = await with_key_of(work, key, owner.organization_id)
        return type(found)(found.user_id, True, False, invited, found.account)

    _standing = member_cards.account_standing
    monkeypatch.setattr(_answering, "_ask_inviter_again", asks_nothing)
    if broken == "cards":
        plant(monkeypatch, member_cards, "account_standing", believes)

    void = await accept(api, key, token, right if broken != "cards" else wrong)

    assert void.status_code == 200  # what the tests above would not let pass


async def with_key_of(work: Work, key: str, organization_id: UUID) -> bytes:
    opened = people.working(work.host, organization_id)
    found = await opened.get(Invitation, UUID(key))
    await opened.close()
    return found.email_key


async def test_whose_address_has_an_account_signs_in_first(
    api: httpx2.AsyncClient, host: Host, owner: Member, letters: Letters, settle: Settle
):
    email, other = address(), await people.member(host, uuid4(), role="owner")
    first = (await invite(api, owner, email)).json()["id"]
    joined = await accept(
        api, first, await letters.link_to(email), displayName="Thabo", password=PASSWORD
    )
    second = (await invite(api, other, email)).json()["id"]
    token = await letters.link_to(email, number=2)
    bearer = {"Authorization": f"Bearer {joined.json()['session']['accessToken']}"}

    nobody = await accept(api, second, token, displayName="Thabo", password=PASSWORD)
    seen = await api.post("/identity/invitations/inspect", json={"token": token})
    known = await api.post(
        f"/identity/invitations/{second}/accept", json={"token": token}, headers=bearer
    )

    assert (nobody.status_code, nobody.json()["code"]) == (401, "unauthenticated")
    assert seen.json()["accountExists"] is True
    assert (known.status_code, known.json()["session"]) == (200, None)
    own = await api.get("/identity/memberships", headers=bearer)
    assert len(own.json()["items"]) == 2


async def test_invitation_is_sent_again_after_ten_minutes(
    api: httpx2.AsyncClient,
    app: FastAPI,
    host: Host,
    owner: Member,
    letters: Letters,
    settle: Settle,
):
    email = address()
    key = (await invite(api, owner, email)).json()["id"]
    first = await letters.link_to(email)
    path = f"/identity/invitations/{key}"

    soon = await api.post(f"{path}/resend", headers=owner.acting)
    await moved(host, owner.organization_id, timedelta(minutes=11))
    again = await api.post(f"{path}/resend", headers=owner.acting)
    second = await letters.link_to(email, number=2)
    declined = await api.post(f"{path}/decline", json={"token": first})
    repeated = await api.post(f"{path}/decline", json={"token": second})
    late = await accept(api, key, second, displayName="Thabo", password=PASSWORD)
    resent = await api.post(f"{path}/resend", headers=owner.acting)

    assert (soon.status_code, again.status_code) == (429, 200)
    assert int(soon.headers["Retry-After"]) <= 600
    assert (declined.status_code, declined.json()["status"]) == (200, "declined")
    assert repeated.json() == declined.json()
    assert (late.status_code, late.json()["code"]) == (409, "identity-invitation-ended")
    assert (resent.status_code, resent.json()["code"]) == (409, "invalid-transition")
    (ended,) = await told(host, owner.organization_id, "InvitationEnded")
    assert ended["outcome"] == "declined"


@pytest.mark.rule("IDN-51")
async def test_invitation_expires_once_after_seven_days(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    email = address()
    key = (await invite(api, owner, email)).json()["id"]
    path = f"/identity/invitations/{key}"
    expires = (await api.get(path, headers=owner.acting)).json()["expiresAt"]

    await moved(host, owner.organization_id, timedelta(days=7))
    shown = await api.get(path, headers=owner.acting)
    listed = await api.get("/identity/invitations?status=expired", headers=owner.acting)
    pending = await api.get("/identity/invitations?status=pending", headers=owner.acting)
    revoked = await api.post(f"{path}/revoke", headers=owner.acting)
    for _ in range(3):
        await swept(host, owner.organization_id, UUID(key))

    ended = await told(host, owner.organization_id, "InvitationEnded")
    print(f"at=7d reads={shown.json()['status']} invitation_ended={len(ended)}")
    assert shown.json()["status"] == "expired"
    assert shown.json()["expiresAt"] == expires
    assert [one["id"] for one in listed.json()["items"]] == [key]
    assert pending.json()["items"] == []
    assert (revoked.status_code, revoked.json()["from"]) == (409, "expired")
    assert [one["outcome"] for one in ended] == ["expired"]
    assert (await invite(api, owner, email)).status_code == 201


async def test_on_the_fifth_day_a_reminder_goes_out_once(
    api: httpx2.AsyncClient, host: Host, owner: Member, letters: Letters, settle: Settle
):
    email = address()
    key = UUID((await invite(api, owner, email)).json()["id"])
    first = await letters.link_to(email)

    await moved(host, owner.organization_id, timedelta(days=5, minutes=1))
    for _ in range(2):
        await swept(host, owner.organization_id, key)
    second = await letters.link_to(email, number=2)

    async def both_told() -> bool:
        return len(await told(host, owner.organization_id, "InvitationSent")) == 2

    await settle(both_told)
    older = await accept(api, str(key), first, displayName="Thabo", password=PASSWORD)
    newer = await accept(api, str(key), second, displayName="Thabo", password=PASSWORD)
    assert "reminder" in await letters.to(email, number=2)
    assert older.status_code == newer.status_code == 200
    assert older.json()["membership"]["id"] == newer.json()["membership"]["id"]


@pytest.mark.rule("SEC-66")
async def test_an_organization_writes_six_times_a_day_to_one_address(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    email, other = address(), await people.member(host, uuid4(), role="owner")
    answers = []
    for _ in range(7):
        answers.append(await invite(api, owner, email))
        key = answers[-1].json().get("id")
        await api.post(f"/identity/invitations/{key}/revoke", headers=owner.acting)

    elsewhere = await invite(api, other, email)
    another = await invite(api, owner, address())

    assert [answer.status_code for answer in answers] == [201] * 6 + [429]
    assert (elsewhere.status_code, another.status_code) == (201, 201)


@pytest.mark.rule("IDN-18")
async def test_invited_staff_cannot_accept_an_organization(
    api: httpx2.AsyncClient, host: Host, owner: Member, letters: Letters, settle: Settle
):
    waiting = await accounts.account(host, status=UserStatus.PENDING_VERIFICATION, staff=True)
    key = (await invite(api, owner, waiting.email)).json()["id"]
    token = await letters.link_to(waiting.email)

    joined = await accept(api, key, token, displayName="Thabo", password=PASSWORD)
    signed_in = await api.post("/identity/auth/sign-in", json=waiting.signing_in)
    shown = await api.get(f"/identity/invitations/{key}", headers=owner.acting)

    assert (joined.status_code, joined.json()["rule"]) == (422, "IDN-18")
    assert (signed_in.status_code, shown.json()["status"]) == (401, "pending")


async def test_nobody_is_invited_twice_and_nothing_tells_of_accounts(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    email = address()
    member = await people.member(host, owner.organization_id, role="viewer")

    first = await invite(api, owner, email)
    twice = await invite(api, owner, email.upper())
    inside = await invite(api, owner, f"{member.user_id}@example.test")
    outside = await people.member(host, uuid4(), role="viewer")
    known = await invite(api, owner, f"{outside.user_id}@example.test")

    assert twice.status_code == 409
    assert twice.json()["existing"]["id"] == first.json()["id"]
    assert (inside.status_code, inside.json()["existing"]["type"]) == (409, "membership")
    assert known.status_code == 201
    assert known.json().keys() == first.json().keys()


@pytest.mark.rule("IDN-15")
async def test_inviting_to_a_grave_role_asks_for_a_fresh_proof(
    api: httpx2.AsyncClient, app: FastAPI, owner: Member
):
    serving: Host = app.state.shared.host
    was, serving.clock = serving.clock, SetClock(serving.now() + timedelta(minutes=6))
    try:
        plain = await invite(api, owner, address(), "viewer")
        grave = await invite(api, owner, address(), "administrator")
    finally:
        serving.clock = was

    assert plain.status_code == 201
    assert (grave.status_code, grave.json()["code"]) == (403, "step-up-required")


async def test_a_wrong_code_finds_nothing(api: httpx2.AsyncClient, host: Host, owner: Member):
    key = (await invite(api, owner, address())).json()["id"]
    wrong = "thl_" + "0" * 49

    answers = [
        await api.post("/identity/invitations/inspect", json={"token": wrong}),
        await api.post(f"/identity/invitations/{key}/accept", json={"token": wrong}),
        await api.post(f"/identity/invitations/{key}/decline", json={"token": wrong}),
    ]

    assert Counter(one.status_code for one in answers) == {404: 3}


async def test_an_invitation_can_be_taken_back(api: httpx2.AsyncClient, owner: Member):
    email = address()
    key = (await invite(api, owner, email)).json()["id"]

    revoked = await api.post(f"/identity/invitations/{key}/revoke", headers=owner.acting)
    found = await api.get(f"/identity/invitations?email={email}", headers=owner.acting)

    assert revoked.json()["status"] == InvitationStatus.REVOKED
    assert [one["status"] for one in found.json()["items"]] == ["revoked"]
