"""Ways back in by a letter: a forgotten password, another address; and what is told by letter."""

from datetime import timedelta
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.identity.test_users import bearer
from tests.factories import accounts
from tests.factories.accounts import PASSWORD
from tests.letters import Letters, written
from tests.settling import Settle
from thenga.domains.identity.tables import UserStatus
from thenga.domains.notification.services import templates
from thenga.kernel.process.host import Host

NEW = "violin harbour cactus ember"
RESETS = "/identity/auth/password-resets"

pytestmark = pytest.mark.settles("identity")


async def confirm(api: httpx2.AsyncClient, token: str) -> httpx2.Response:
    return await api.post(f"{RESETS}/confirm", json={"token": token, "newPassword": NEW})


@pytest.mark.rule("IDN-4")
async def test_reset_works_once_and_ends_every_session(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    one = await accounts.account(host)
    session = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    await letters.to(one.email)  # of the new device

    asked = await api.post(RESETS, json={"email": one.email})
    token = await letters.link_to(one.email, number=2)
    done, again = await confirm(api, token), await confirm(api, token)
    thief = await api.get("/identity/me", headers=session)
    new = await api.post("/identity/auth/sign-in", json=one.signing_in | {"password": NEW})

    assert (asked.status_code, done.json()) == (202, {"outcome": "password_set"})
    assert (again.status_code, again.json()["code"]) == (409, "identity-link-spent")
    assert (thief.json()["code"], new.status_code) == ("session-revoked", 200)


@pytest.mark.rule("IDN-10")
async def test_a_newer_reset_link_replaces_the_older(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    one = await accounts.account(host)
    await api.post(RESETS, json={"email": one.email})
    first = await letters.link_to(one.email)
    await api.post(RESETS, json={"email": one.email})
    second = await letters.link_to(one.email, number=2)

    older, newer = await confirm(api, first), await confirm(api, second)

    assert (older.status_code, older.json()["code"]) == (409, "identity-link-spent")
    assert newer.status_code == 200


@pytest.mark.rule("IDN-52")
async def test_asking_for_a_reset_tells_nothing(api: httpx2.AsyncClient, host: Host, seeded: None):
    known = await accounts.account(host)
    disabled = await accounts.account(host, status=UserStatus.DISABLED)
    waiting = await accounts.account(host, status=UserStatus.PENDING_VERIFICATION)
    addresses = [known.email, disabled.email, waiting.email, f"{uuid4().hex}@example.test"]

    answers = [await api.post(RESETS, json={"email": one}) for one in addresses]

    told = {(a.status_code, a.content, tuple(sorted(a.headers))) for a in answers}
    assert len(told) == 1


@pytest.mark.rule("IDN-10")
async def test_a_reset_link_dies_after_half_an_hour(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle, clock: Time
):
    one = await accounts.account(host)
    await api.post(RESETS, json={"email": one.email})
    token = await letters.link_to(one.email)

    clock.move(timedelta(minutes=30, seconds=1))
    late = await confirm(api, token)

    assert (late.status_code, late.json()["code"]) == (409, "identity-link-spent")


@pytest.mark.rule("IDN-4")
async def test_new_address_is_verified_and_the_old_one_notified(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    one = await accounts.account(host)
    here = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    there = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    new = f"new.{uuid4().hex}@example.test"

    asked = await api.post(
        f"/identity/users/{one.user_id}/address-changes", json={"email": new}, headers=here
    )
    told = [await letters.to(one.email, number=n) for n in (1, 2, 3)]
    done = await api.post(
        "/identity/auth/address-changes/confirm", json={"token": await letters.link_to(new)}
    )
    by_old = await api.post("/identity/auth/sign-in", json=one.signing_in)
    by_new = await api.post("/identity/auth/sign-in", json=one.signing_in | {"email": new})
    still = await api.get("/identity/me", headers=here)
    ended = await api.get("/identity/me", headers=there)

    assert (asked.status_code, done.json()) == (202, {"outcome": "address_changed"})
    assert any("different email address" in letter for letter in told)
    assert (by_old.status_code, by_new.status_code) == (401, 200)
    assert (still.status_code, ended.json()["code"]) == (200, "session-revoked")
    assert still.json()["account"]["email"] == new


async def test_an_address_that_was_given_up_is_free_again(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    one = await accounts.account(host)
    token = await accounts.link(host, one, purpose="change_address")
    await api.post("/identity/auth/address-changes/confirm", json={"token": token})

    await api.post("/identity/auth/register", json={"email": one.email, "displayName": "Zola"})
    joined = await api.post(
        "/identity/auth/verify-address",
        json={"token": await letters.link_to(one.email), "password": NEW},
    )

    assert joined.status_code == 200
    assert joined.json()["session"]["userId"] != str(one.user_id)


async def test_an_address_of_another_account_cannot_be_taken(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    one, other = await accounts.account(host), await accounts.account(host)
    here = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))

    asked = await api.post(
        f"/identity/users/{one.user_id}/address-changes",
        json={"email": other.email},
        headers=here,
    )
    done = await api.post(
        "/identity/auth/address-changes/confirm",
        json={"token": await letters.link_to(other.email)},
    )

    assert asked.status_code == 202
    assert (done.status_code, done.json()["code"]) == (409, "identity-link-spent")


@pytest.mark.rule("IDN-17")
async def test_a_sign_in_from_an_unknown_device_is_told(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    one = await accounts.account(host)
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"

    first = await api.post(
        "/identity/auth/sign-in", json=one.signing_in, headers={"User-Agent": agent}
    )
    letter = await letters.to(one.email)
    token = first.json()["deviceToken"]
    await api.post("/identity/auth/sign-in", json=one.signing_in | {"deviceToken": token})

    assert "Firefox on Linux, network 127.0.0.0/24" in letter
    assert letters.count(one.email) == 1


LETTERS = sorted(code for code in templates.topics() if code.startswith("identity."))


@pytest.mark.parametrize("topic", LETTERS)
def test_every_letter_says_what_to_do_with_its_code(topic: str):
    content = templates.platform_content(topic)
    facts = {one.name: one.example for one in content.variables}

    letter = written(topic, facts, is_proven=True)
    unproven = written(topic, facts).text

    assert "{{" not in letter.text + letter.subject and "\n" not in letter.subject
    assert "Thandi" not in unproven and "Mokoena" not in unproven
    if "link" in facts:
        assert "enter this code" in unproven and "\n482913\n" in unproven


def test_a_planted_fact_in_a_name_is_not_read_as_a_template():
    letter = written("identity.already_registered", {"name": "{{link}} {{name}}"}, is_proven=True)

    assert "Good day {{link}} {{name}}," in letter.text


@pytest.mark.rule("IDN-8")
async def test_a_password_of_another_form_is_the_same_password(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    one = await accounts.account(host)
    wide = PASSWORD.replace(
        "wheel", "\uff57\uff48\uff45\uff45\uff4c"
    )  # NFKC makes it the same (IDN-8)

    answer = await api.post("/identity/auth/sign-in", json=one.signing_in | {"password": wide})

    assert answer.status_code == 200
