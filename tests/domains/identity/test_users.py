"""Accounts: one's own, colleagues as cards, all of them for staff."""

from datetime import timedelta
from uuid import uuid4

import httpx2
import pytest

from tests.factories import accounts
from tests.factories import identity as people
from tests.factories.accounts import PASSWORD
from thenga.domains.identity.tables import UserStatus
from thenga.kernel.process.host import Host

REASON = {"reason": "The holder called us"}


def bearer(answer: httpx2.Response) -> dict[str, str]:
    return {"Authorization": f"Bearer {answer.json()['accessToken']}"}


async def test_one_sees_who_one_is_and_what_one_may_do_there(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    viewer = await people.member(host, uuid4(), role="viewer")
    nobody = await people.person(host)

    alone = (await api.get("/identity/me", headers=nobody.headers)).json()
    inside = (await api.get("/identity/me", headers=viewer.headers)).json()

    assert inside["account"]["id"] == str(viewer.user_id)
    assert inside["session"]["current"] is True
    assert [m["organizationId"] for m in inside["memberships"]] == [str(viewer.organization_id)]
    assert inside["organizationId"] == str(viewer.organization_id)
    assert "organization:equipment:read" in inside["permissions"]
    assert "organization:equipment:create" not in inside["permissions"]
    assert "organization:equipment:read" not in alone["permissions"]
    assert "identity:user:update" in alone["permissions"]


async def test_colleagues_see_the_card_and_strangers_nothing(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner")
    colleague = await people.member(host, owner.organization_id, role="viewer")
    stranger = await people.person(host)
    there = {"X-Organization-Id": str(owner.organization_id)}
    path = f"/identity/users/{owner.user_id}"

    renamed = await api.patch(path, json={"displayName": "Thandi"}, headers=owner.headers)
    own = await api.get(path, headers=owner.headers)
    card = await api.get(path, headers=colleague.headers | there)
    nothing = await api.get(path, headers=stranger.headers)
    nobody = await api.get(f"/identity/users/{uuid4()}", headers=stranger.headers)

    assert (renamed.status_code, own.json()["email"]) == (200, f"{owner.user_id}@example.test")
    assert (card.status_code, card.json()["displayName"]) == (200, "Thandi")
    assert set(card.json()) == {"id", "displayName", "membershipId", "joinedAt", "shownAs"}
    assert (nothing.status_code, nobody.status_code) == (404, 404)


async def test_one_changes_only_what_one_names_and_only_ones_own(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    one, other = await people.person(host), await people.person(host)
    path = f"/identity/users/{one.user_id}"

    changed = await api.patch(
        path, json={"phone": "082 123 4567", "locale": "zu-ZA"}, headers=one.headers
    )
    impossible = await api.patch(path, json={"phone": "+9991234567"}, headers=one.headers)
    foreign = await api.patch(path, json={"locale": "af-ZA"}, headers=other.headers)

    shown = changed.json()
    assert (shown["phone"], shown["locale"], shown["timeZone"]) == (
        *("+27821234567", "zu-ZA"),
        "Africa/Johannesburg",
    )
    assert (impossible.status_code, impossible.json()["code"]) == (422, "rule-violated")
    assert impossible.json()["field"] == "phone"
    assert foreign.status_code == 404


@pytest.mark.rule("IDN-18")
async def test_staff_make_an_account_once_and_nobody_else_can(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    security = await people.staff(host, "platform_security")
    support = await people.staff(host, "platform_support")
    owner = await people.member(host, uuid4(), role="owner")
    body = {
        "email": f"{uuid4().hex}@example.test",
        "displayName": "Ayanda",
        "staff": True,
        "reason": "Joins the desk",
    }

    made = await api.post("/identity/users", json=body, headers=security.headers)
    again = await api.post("/identity/users", json=body, headers=security.headers)
    without_role = await api.post("/identity/users", json=body, headers=support.headers)
    customer = await api.post("/identity/users", json=body, headers=owner.headers)

    shown = made.json()
    assert (made.status_code, shown["status"], shown["staff"]) == (
        *(201, "pending_verification"),
        True,
    )
    assert (again.status_code, again.json()["existing"]["id"]) == (409, shown["id"])
    assert (without_role.status_code, customer.status_code) == (404, 403)


async def test_staff_find_accounts_by_address_and_state(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    support = await people.staff(host, "platform_support")
    one = await accounts.account(host)
    gone = await accounts.account(host, status=UserStatus.DISABLED)

    async def found(**query: str) -> list[str]:
        answer = await api.get("/identity/users", params=query, headers=support.headers)
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert await found(email=one.email.upper()) == [str(one.user_id)]
    assert await found(email=gone.email, status="active") == []
    assert await found(email=gone.email, status="disabled") == [str(gone.user_id)]
    assert await found(email=one.email, locked="true") == []
    assert len(await found(sort="-lastSignInAt", limit="2")) == 2
    whole = await api.get(f"/identity/users/{one.user_id}", headers=support.headers)
    assert whole.json()["email"] == one.email


@pytest.mark.rule("IDN-4")
async def test_disabled_account_is_signed_out_and_restored_unchanged(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    security = await people.staff(host, "platform_security")
    one = await accounts.account(host)
    waiting = await accounts.account(host, status=UserStatus.PENDING_VERIFICATION)
    session = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))

    async def do(verb: str, who: accounts.Account, **more: str) -> httpx2.Response:
        path = f"/identity/users/{who.user_id}/{verb}"
        return await api.post(path, json=REASON | more, headers=security.headers)

    disabled = await do("disable", one, code="fraud")
    refused = await api.get("/identity/me", headers=session)
    signing_in = await api.post("/identity/auth/sign-in", json=one.signing_in)
    enabled = await do("enable", one)
    back = await api.post("/identity/auth/sign-in", json=one.signing_in)
    await do("disable", waiting, code="abuse")
    still_waiting = await do("enable", waiting)

    assert disabled.json()["status"] == "disabled"
    assert disabled.json()["statusReason"] == {"code": "fraud", "text": REASON["reason"]}
    assert (refused.status_code, signing_in.status_code) == (401, 401)
    assert (enabled.json()["status"], back.status_code) == ("active", 200)
    assert still_waiting.json()["status"] == "pending_verification"


async def test_nobody_disables_themselves_and_a_reason_is_needed(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    security = await people.staff(host, "platform_security")
    path = f"/identity/users/{security.user_id}/disable"

    own = await api.post(path, json=REASON | {"code": "left"}, headers=security.headers)
    silent = await api.post(path, json={"code": "left"}, headers=security.headers)

    assert (own.status_code, own.json()["code"]) == (403, "identity-same-person")
    assert silent.status_code == 422


@pytest.mark.rule("IDN-15")
async def test_new_password_needs_verification_and_ends_sessions(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock
):
    one = await accounts.account(host)
    here = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    there = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    path, body = f"/identity/users/{one.user_id}/password", {"newPassword": f"{PASSWORD} again"}

    clock.move(timedelta(minutes=5, seconds=1))
    stale = await api.post(path, json=body, headers=here)
    proof = await api.post("/identity/auth/step-up", json={"password": PASSWORD}, headers=here)
    weak = await api.post(path, json={"newPassword": "aaaaaaaaaaaaaaaa"}, headers=here)
    changed = await api.post(path, json=body, headers=here)
    other = await api.get("/identity/me", headers=there)
    still = await api.get("/identity/me", headers=here)
    old = await api.post("/identity/auth/sign-in", json=one.signing_in)
    new = await api.post(
        "/identity/auth/sign-in", json=one.signing_in | {"password": f"{PASSWORD} again"}
    )

    assert (stale.status_code, stale.json()["code"]) == (403, "step-up-required")
    assert (stale.json()["maxAgeSeconds"], stale.json()["methods"]) == (300, ["password"])
    assert proof.status_code == 200
    assert weak.json()["code"] == "identity-password-weak"
    assert changed.status_code == 200
    assert (other.json()["code"], still.status_code) == ("session-revoked", 200)
    assert (old.status_code, new.status_code) == (401, 200)


async def test_a_wrong_step_up_is_refused_and_counted_apart(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    one = await accounts.account(host)
    here = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))

    wrong = await api.post("/identity/auth/step-up", json={"password": "no"}, headers=here)
    again = await api.post("/identity/auth/sign-in", json=one.signing_in)

    assert (wrong.status_code, wrong.json()["code"]) == (401, "identity-proof-refused")
    assert again.status_code == 200


async def test_devices_are_listed_and_forgotten(api: httpx2.AsyncClient, host: Host, seeded: None):
    one = await accounts.account(host)
    phone = {"User-Agent": "Mozilla/5.0 (Linux; Android 13; SM-A536B) Chrome/118.0 Mobile"}
    first = await api.post("/identity/auth/sign-in", json=one.signing_in, headers=phone)
    token = first.json()["deviceToken"]
    known = await api.post("/identity/auth/sign-in", json=one.signing_in | {"deviceToken": token})
    path = f"/identity/users/{one.user_id}/devices"

    (device,) = (await api.get(path, headers=bearer(first))).json()["items"]
    forgotten = await api.delete(f"{path}/{device['id']}", headers=bearer(first))
    left = (await api.get(path, headers=bearer(first))).json()["items"]
    stranger = await api.post(
        "/identity/auth/sign-in", json=one.signing_in | {"deviceToken": token}
    )

    assert token.startswith("thd_")
    assert known.json()["deviceToken"] is None
    assert device["family"] == "Android"
    assert (forgotten.status_code, left) == (204, [])
    assert stranger.json()["deviceToken"] not in (None, token)
