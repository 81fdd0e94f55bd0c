"""Registering, signing in, refreshing and signing out, through HTTP and real letters."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import httpx2
import pytest

from tests.domains.identity.test_users import bearer
from tests.factories import accounts
from tests.factories import identity as people
from tests.letters import Letters
from tests.set_clock import SetClock
from tests.settling import Settle
from thenga.domains.identity.tables import UserStatus
from thenga.kernel.process.host import Host

PASSWORD = "correct horse battery staple"

pytestmark = pytest.mark.settles("identity")


def address() -> str:
    return f"lindiwe.{uuid4().hex[:12]}@mokoena.co.za"


async def register(api: httpx2.AsyncClient, email: str) -> httpx2.Response:
    return await api.post(
        "/identity/auth/register", json={"email": email, "displayName": "Lindiwe Mokoena"}
    )


async def verified(api: httpx2.AsyncClient, letters: Letters, email: str) -> dict[str, object]:
    await register(api, email)
    answer = await api.post(
        "/identity/auth/verify-address",
        json={"token": await letters.link_to(email), "password": PASSWORD},
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


async def test_verified_address_sets_the_password_and_signs_in(
    api: httpx2.AsyncClient, letters: Letters, settle: Settle
):
    email = address()

    signed_in = await verified(api, letters, email)
    again = await api.post(
        "/identity/auth/sign-in", json={"method": "password", "email": email, "password": PASSWORD}
    )

    assert signed_in["outcome"] == "signed_in"
    assert again.status_code == 200
    assert again.json()["session"]["id"] != signed_in["session"]["id"]  # type: ignore[index]


async def test_a_sign_in_without_a_method_is_by_password(
    api: httpx2.AsyncClient, letters: Letters, settle: Settle
):
    email = address()
    await verified(api, letters, email)

    unlabelled = {"email": email, "password": PASSWORD}
    answer = await api.post("/identity/auth/sign-in", json=unlabelled)
    unknown = await api.post("/identity/auth/sign-in", json=unlabelled | {"method": "magic"})

    assert answer.status_code == 200
    assert (unknown.status_code, unknown.json()["code"]) == (422, "validation-failed")


@pytest.mark.rule("IDN-10")
async def test_codes_of_all_letters_work_until_one_is_used(
    api: httpx2.AsyncClient, letters: Letters, settle: Settle
):
    email = address()
    await register(api, email)
    first = await letters.link_to(email)
    await register(api, email)
    second = await letters.link_to(email, number=2)

    async def prove(token: str) -> httpx2.Response:
        body = {"token": token, "password": PASSWORD}
        return await api.post("/identity/auth/verify-address", json=body)

    older, again, newer = await prove(first), await prove(first), await prove(second)

    assert older.status_code == 200
    assert (again.status_code, again.json()["code"]) == (409, "identity-link-spent")
    assert (newer.status_code, newer.json()["code"]) == (409, "identity-link-spent")


async def test_a_known_address_gets_the_same_answer_and_another_letter(
    api: httpx2.AsyncClient, letters: Letters, settle: Settle
):
    email = address()
    await verified(api, letters, email)

    known, unknown = await register(api, email), await register(api, address())

    assert (known.status_code, known.content) == (unknown.status_code, unknown.content)
    assert "already have" in await letters.to(email, number=2)


async def test_three_letters_an_hour_go_to_one_address(api: httpx2.AsyncClient):
    email = address()

    answers = [(await register(api, email)).status_code for _ in range(4)]

    assert answers == [202, 202, 202, 429]


@pytest.mark.rule("IDN-6")
async def test_registering_an_address_takes_no_password_reset_away(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    victim, stranger = await accounts.account(host), await accounts.account(host)
    session = bearer(await api.post("/identity/auth/sign-in", json=stranger.signing_in))
    change = f"/identity/users/{stranger.user_id}/address-changes"

    taken = [(await register(api, victim.email)).status_code for _ in range(4)]
    changed = [
        (await api.post(change, json={"email": victim.email}, headers=session)).status_code
        for _ in range(4)
    ]
    asked = {"email": victim.email}
    resets = [
        (await api.post("/identity/auth/password-resets", json=asked)).status_code for _ in range(4)
    ]

    assert taken == changed == resets == [202, 202, 202, 429]


@pytest.mark.parametrize("password", ["Lindiwe2026!", "aaaaaaaaaaaaaaaa"])
async def test_weak_password_is_refused_and_the_link_stays_valid(
    api: httpx2.AsyncClient, letters: Letters, settle: Settle, password: str
):
    email = address()
    await register(api, email)
    token = await letters.link_to(email)

    weak = await api.post(
        "/identity/auth/verify-address", json={"token": token, "password": password}
    )
    strong = await api.post(
        "/identity/auth/verify-address", json={"token": token, "password": PASSWORD}
    )

    assert (weak.status_code, weak.json()["code"]) == (422, "identity-password-weak")
    assert strong.status_code == 200


async def test_every_refused_sign_in_is_the_same(
    api: httpx2.AsyncClient, letters: Letters, settle: Settle
):
    email, pending = address(), address()
    await verified(api, letters, email)
    await register(api, pending)

    async def refused(email: str, password: str) -> dict[str, object]:
        body = {"method": "password", "email": email, "password": password}
        answer = await api.post("/identity/auth/sign-in", json=body)
        shown: dict[str, object] = answer.json()
        return {k: v for k, v in shown.items() if k != "requestId"} | {"http": answer.status_code}

    wrong = await refused(email, "not the password at all")
    unknown = await refused(address(), PASSWORD)
    unverified = await refused(pending, PASSWORD)

    assert wrong == unknown == unverified
    assert (wrong["http"], wrong["code"]) == (401, "sign-in-refused")


async def test_ten_clients_refreshing_at_once_get_the_same_pair(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody = await people.person(host)
    body = {"refreshToken": somebody.refresh_token}

    answers = await asyncio.gather(
        *(api.post("/identity/auth/refresh", json=body) for _ in range(10))
    )

    pairs = {(a.json()["accessToken"], a.json()["refreshToken"]) for a in answers}
    assert [a.status_code for a in answers] == [200] * 10
    assert len(pairs) == 1
    print("\nrefresh clients=10 pairs=1")


async def test_a_refresh_token_used_after_the_grace_ends_the_session(
    api: httpx2.AsyncClient, app: httpx2.ASGITransport, host: Host, seeded: None
):
    somebody = await people.person(host)
    body = {"refreshToken": somebody.refresh_token}
    fresh = (await api.post("/identity/auth/refresh", json=body)).json()
    serving: Host = app.state.shared.host  # type: ignore[attr-defined]
    was, serving.clock = serving.clock, SetClock(serving.now() + timedelta(seconds=31))

    stolen = await api.post("/identity/auth/refresh", json=body)
    serving.clock = was
    after = await api.get(
        "/identity/sessions", headers={"Authorization": f"Bearer {fresh['accessToken']}"}
    )

    assert (stolen.status_code, stolen.json()["code"]) == (401, "session-revoked")
    assert (after.status_code, after.json()["code"]) == (401, "session-revoked")


async def test_signing_out_ends_the_session_for_the_next_call(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody = await people.person(host)

    out = await api.post("/identity/auth/sign-out", headers=somebody.headers)
    after = await api.get("/identity/sessions", headers=somebody.headers)

    assert (out.status_code, out.json()["status"]) == (200, "signed_out")
    assert (after.status_code, after.json()["code"]) == (401, "session-revoked")


async def test_an_expired_access_token_says_that_refreshing_helps(
    api: httpx2.AsyncClient, app: httpx2.ASGITransport, host: Host, seeded: None
):
    somebody = await people.person(host)
    serving: Host = app.state.shared.host  # type: ignore[attr-defined]
    was, serving.clock = serving.clock, SetClock(serving.now() + timedelta(minutes=16))

    late = await api.get("/identity/sessions", headers=somebody.headers)
    serving.clock = was

    assert (late.status_code, late.json()["code"]) == (401, "token-expired")


async def test_a_disabled_account_is_refused_everywhere(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody = await people.person(host, status=UserStatus.DISABLED)

    answer = await api.get("/identity/sessions", headers=somebody.headers)

    assert (answer.status_code, answer.json()["code"]) == (401, "account-disabled")
