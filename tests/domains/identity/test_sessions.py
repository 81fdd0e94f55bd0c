"""Sessions: seen and ended by their owner, by a manager where they were used, and by staff."""

from datetime import datetime, timedelta
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.identity.test_users import bearer
from tests.factories import accounts
from tests.factories import identity as people
from tests.suites.calls.sending import spare_session
from thenga.domains.identity.services.sessions import sessions
from thenga.kernel.process.host import Host


async def test_a_person_sees_their_own_sessions_and_which_one_asks(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody, other = await people.person(host), await people.person(host)

    answer = await api.get("/identity/sessions", headers=somebody.headers)

    (shown,) = answer.json()["items"]
    assert (shown["id"], shown["current"]) == (str(somebody.session_id), True)
    assert str(other.session_id) not in answer.text


async def test_a_session_is_dead_on_the_next_call_after_it_was_revoked(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody = await people.person(host)
    path = f"/identity/sessions/{somebody.session_id}/revoke"

    revoked = await api.post(path, headers=somebody.headers)
    after = await api.post(path, headers=somebody.headers)

    assert (revoked.status_code, revoked.json()["status"]) == (200, "revoked")
    assert (after.status_code, after.json()["code"]) == (401, "session-revoked")


async def test_another_persons_session_is_not_there(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody, other = await people.person(host), await people.person(host)

    answer = await api.post(
        f"/identity/sessions/{other.session_id}/revoke", headers=somebody.headers
    )

    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert (await api.get("/identity/sessions", headers=other.headers)).status_code == 200


def there(member: people.Member) -> dict[str, str]:
    return member.headers | {"X-Organization-Id": str(member.organization_id)}


async def _used_in_organization(
    api: httpx2.AsyncClient, host: Host
) -> tuple[people.Member, people.Member]:
    """An owner and a member whose session works for the organization."""
    owner = await people.member(host, uuid4(), role="owner")
    member = await people.member(host, owner.organization_id, role="viewer")
    switched = await api.post(
        f"/identity/sessions/{member.session_id}/switch-organization",
        json={"organizationId": str(owner.organization_id)},
        headers=member.headers,
    )
    assert switched.json()["activeOrganizationId"] == str(owner.organization_id), switched.text
    return owner, member


async def test_manager_lists_and_ends_sessions_of_the_organization(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    owner, member = await _used_in_organization(api, host)
    spare = await spare_session(host, member)  # never used there
    path = f"/identity/sessions/{member.session_id}"
    query = {"organizationId": str(owner.organization_id), "sort": "-lastSeenAt"}

    listed = await api.get("/identity/sessions", params=query, headers=there(owner))
    one = await api.get(path, headers=there(owner))
    unused = await api.get(f"/identity/sessions/{spare.session.id}", headers=there(owner))
    colleague = await api.get(f"/identity/sessions/{owner.session_id}", headers=there(member))
    silent = await api.post(f"{path}/revoke", headers=there(owner))
    clock.move(timedelta(minutes=6))
    stale = await api.post(f"{path}/revoke", json={"reason": "Lost"}, headers=there(owner))
    clock.move(timedelta(minutes=-6))
    ended = await api.post(f"{path}/revoke", json={"reason": "Lost phone"}, headers=there(owner))
    after = await api.get("/identity/me", headers=member.headers)

    assert [item["id"] for item in listed.json()["items"]] == [str(member.session_id)]
    assert (one.json()["userId"], one.json()["status"]) == (str(member.user_id), "active")
    assert "assurance" not in one.json()
    assert (unused.status_code, colleague.status_code) == (404, 404)
    assert (silent.status_code, silent.json()["errors"][0]["pointer"]) == (422, "/reason")
    assert (stale.status_code, stale.json()["code"]) == (403, "step-up-required")
    assert (ended.status_code, ended.json()["status"]) == (200, "ended")
    assert "activeOrganizationId" not in ended.json()
    assert after.json()["code"] == "session-revoked"


async def test_staff_see_and_end_any_session(api: httpx2.AsyncClient, host: Host, seeded: None):
    security = await people.staff(host, "platform_security")
    auditor = await people.staff(host, "platform_auditor")
    one = await accounts.account(host)
    signed_in = await api.post("/identity/auth/sign-in", json=one.signing_in)
    session_id = signed_in.json()["session"]["id"]
    path = f"/identity/sessions/{session_id}"

    listed = await api.get(
        "/identity/sessions", params={"userId": str(one.user_id)}, headers=auditor.headers
    )
    seen = await api.get(path, headers=auditor.headers)
    may_not = await api.post(f"{path}/revoke", json={"reason": "x"}, headers=auditor.headers)
    ended = await api.post(f"{path}/revoke", json={"reason": "Fraud"}, headers=security.headers)
    nowhere = await api.get(f"/identity/sessions/{uuid4()}", headers=auditor.headers)

    assert [item["id"] for item in listed.json()["items"]] == [session_id]
    assert (seen.status_code, seen.json()["status"]) == (200, "active")
    assert (may_not.status_code, nowhere.status_code) == (404, 404)
    assert (ended.status_code, ended.json()["status"]) == (200, "revoked")
    assert (await api.get("/identity/me", headers=bearer(signed_in))).status_code == 401


async def test_one_works_only_for_organizations_one_belongs_to(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    member = await people.member(host, uuid4(), role="viewer")
    stranger = await people.member(host, uuid4(), role="viewer")

    foreign = await api.post(
        f"/identity/sessions/{member.session_id}/switch-organization",
        json={"organizationId": str(stranger.organization_id)},
        headers=member.headers,
    )

    assert (foreign.status_code, foreign.json()["code"]) == (404, "not-found")


async def test_one_begins_where_one_was_last_or_asks_to_be(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    one = await accounts.account(host)
    first = await api.post("/identity/auth/sign-in", json=one.signing_in)
    session = first.json()["session"]
    who = people.Person(one.user_id, session["id"], first.json()["accessToken"], "")
    here = await people.member(host, uuid4(), role="viewer", who=who)
    elsewhere = str(uuid4())

    asked = await api.post(
        "/identity/auth/sign-in",
        json=one.signing_in | {"organizationId": str(here.organization_id)},
    )
    remembered = await api.post("/identity/auth/sign-in", json=one.signing_in)
    foreign = await api.post(
        "/identity/auth/sign-in", json=one.signing_in | {"organizationId": elsewhere}
    )

    begun = [a.json()["session"]["activeOrganizationId"] for a in (first, asked, remembered)]
    assert begun == [None, str(here.organization_id), str(here.organization_id)]
    assert foreign.json()["session"]["activeOrganizationId"] is None


@pytest.mark.rule("IDN-4")
@pytest.mark.parametrize(
    ("scope", "alive"), [("this", [False, True]), ("others", [True, False]), ("all", [False] * 2)]
)
async def test_signing_out_ends_what_is_asked(
    api: httpx2.AsyncClient, host: Host, seeded: None, scope: str, alive: list[bool]
):
    one = await people.person(host)
    other = (await spare_session(host, one)).pair.access_token

    await api.post("/identity/auth/sign-out", json={"scope": scope}, headers=one.headers)

    answers = [
        await api.get("/identity/me", headers={"Authorization": f"Bearer {token}"})
        for token in (one.token, other)
    ]
    assert [a.status_code == 200 for a in answers] == alive


@pytest.mark.rule("IDN-2")
async def test_the_longest_unseen_of_twenty_sessions_makes_room(
    patient: httpx2.AsyncClient, host: Host, seeded: None
):
    one = await accounts.account(host)

    signed_in = [
        await patient.post("/identity/auth/sign-in", json=one.signing_in)
        for _ in range(sessions.MOST + 1)
    ]

    first = await patient.get("/identity/me", headers=bearer(signed_in[0]))
    query = {"status": "active"}
    newest = bearer(signed_in[-1])
    active = await patient.get("/identity/sessions", params=query, headers=newest)
    assert first.json()["code"] == "session-revoked"
    assert len(active.json()["items"]) == sessions.MOST


@pytest.mark.rule("IDN-2")
async def test_staff_are_signed_in_for_a_working_day_at_most(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    one = await accounts.account(host, staff=True)

    session = (await api.post("/identity/auth/sign-in", json=one.signing_in)).json()["session"]

    began = session["authenticatedAt"]
    lives = [_seconds(began, session[name]) for name in ("idleExpiresAt", "expiresAt")]
    assert lives == [30 * 60, 8 * 3600]


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
