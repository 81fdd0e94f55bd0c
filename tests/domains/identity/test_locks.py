"""Locks: ten wrong passwords close signing in for a while, and nothing else (IDN-7)."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.identity.test_users import REASON, bearer
from tests.factories import accounts
from tests.factories import identity as people
from tests.letters import Letters
from tests.settling import Settle
from tests.suites.sizes import size
from thenga.domains.identity.services.auth import _counting
from thenga.kernel.process.host import Host

SIGN_IN = "/identity/auth/sign-in"
QUARTER = timedelta(minutes=15)

pytestmark = pytest.mark.settles("identity")


async def fail(api: httpx2.AsyncClient, one: accounts.Account, times: int = 10, **more: str) -> Any:
    """Wrong passwords; what the last one was answered."""
    body = one.signing_in | {"password": "not this one"} | more
    for _ in range(times):
        refused = await api.post(SIGN_IN, json=body)
        assert refused.status_code == 401
    return _told(refused)


def _told(answer: httpx2.Response) -> tuple[Any, ...]:
    shown = {name: value for name, value in answer.json().items() if name != "requestId"}
    return answer.status_code, shown, sorted(answer.headers)


async def works(api: httpx2.AsyncClient, one: accounts.Account, **more: str) -> bool:
    return (await api.post(SIGN_IN, json=one.signing_in | more)).status_code == 200


@pytest.mark.rule("IDN-7")
async def test_the_right_password_is_refused_for_a_quarter_of_an_hour(
    patient: httpx2.AsyncClient,
    host: Host,
    letters: Letters,
    settle: Settle,
    patient_clock: Time,
):
    one = await accounts.account(host)
    open_session = bearer(await patient.post(SIGN_IN, json=one.signing_in))
    support = await people.staff(host, "platform_support")

    wrong = await fail(patient, one)
    right = _told(await patient.post(SIGN_IN, json=one.signing_in))
    letter = await letters.to(one.email, number=2)
    listed = await patient.get(
        "/identity/users", params={"email": one.email, "locked": "true"}, headers=support.headers
    )
    account = (await patient.get("/identity/me", headers=open_session)).json()["account"]
    patient_clock.move(QUARTER - timedelta(seconds=30))
    early = await works(patient, one)
    patient_clock.move(timedelta(seconds=31))
    later = await works(patient, one)

    assert right == wrong
    assert (account["status"], account["lock"]["cause"]) == ("active", "failures")
    assert len(listed.json()["items"]) == 1
    assert "sign-in to your account is locked" in letter
    assert (early, later) == (False, True)
    print("\nfailures=10 locked_seconds=900 same_bytes=1 status=active open_session=200")


@pytest.mark.rule("IDN-7")
async def test_each_lock_is_twice_as_long_up_to_a_day(
    patient: httpx2.AsyncClient, host: Host, seeded: None, patient_clock: Time
):
    one = await accounts.account(host)
    lasted = []
    expected = [15, 30, 60, 120, 240, 480, 960, 1440, 1440][: size(2, 9)]
    for minutes in expected:
        await fail(patient, one)
        patient_clock.move(timedelta(minutes=minutes, seconds=-2))
        early = await works(patient, one)
        patient_clock.move(timedelta(seconds=3))
        lasted.append(minutes if not early and await works(patient, one) else None)

    print(f"\nlocks_minutes={lasted}")
    assert lasted == expected


@pytest.mark.rule("IDN-7")
async def test_nine_failures_and_slow_ones_lock_nobody(
    patient: httpx2.AsyncClient, host: Host, seeded: None, patient_clock: Time
):
    nine, slow = await accounts.account(host), await accounts.account(host)

    await fail(patient, nine, 9)
    await fail(patient, slow, 9)
    patient_clock.move(QUARTER + timedelta(seconds=1))
    await fail(patient, slow, 9)

    assert await works(patient, nine)
    assert await works(patient, slow)


@pytest.mark.rule("IDN-7")
async def test_known_device_has_its_own_failure_count(
    patient: httpx2.AsyncClient, host: Host, seeded: None
):
    one, other = await accounts.account(host), await accounts.account(host)
    token = (await patient.post(SIGN_IN, json=one.signing_in)).json()["deviceToken"]
    foreign = (await patient.post(SIGN_IN, json=other.signing_in)).json()["deviceToken"]

    await fail(patient, one)
    stranger, owner = await works(patient, one), await works(patient, one, deviceToken=token)
    thief = await works(patient, one, deviceToken=foreign)
    await fail(patient, one, deviceToken=token)
    guessed_on = await works(patient, one, deviceToken=token)

    assert (stranger, owner, thief, guessed_on) == (False, True, False, False)


@pytest.mark.rule("IDN-7")
async def test_staff_lift_a_lock_and_so_does_a_reset(
    patient: httpx2.AsyncClient, api: httpx2.AsyncClient, host: Host, seeded: None
):
    security = await people.staff(host, "platform_security")
    one, other = await accounts.account(host), await accounts.account(host)
    await fail(patient, one)
    await fail(patient, other)

    lifted = await api.post(
        f"/identity/users/{one.user_id}/unlock", json=REASON, headers=security.headers
    )
    token = await accounts.link(host, other, purpose="reset_password")
    await patient.post(
        "/identity/auth/password-resets/confirm",
        json={"token": token, "newPassword": accounts.PASSWORD},
    )

    assert (lifted.status_code, lifted.json()["lock"]) == (200, None)
    assert await works(patient, one)
    assert await works(patient, other)


@pytest.mark.rule("IDN-7")
async def test_a_disabled_account_stays_refused_after_its_lock_ends(
    patient: httpx2.AsyncClient, host: Host, seeded: None, patient_clock: Time
):
    security = await people.staff(host, "platform_security")
    one = await accounts.account(host)
    await fail(patient, one)
    await patient.post(
        f"/identity/users/{one.user_id}/disable",
        json=REASON | {"code": "abuse"},
        headers=security.headers,
    )

    patient_clock.move(QUARTER + timedelta(seconds=1))
    refused = await works(patient, one)

    assert not refused


@pytest.mark.rule("IDN-7")
async def test_an_unknown_address_is_locked_like_a_known_one(
    patient: httpx2.AsyncClient, host: Host, seeded: None
):
    known = await accounts.account(host)
    unknown = accounts.Account(known.user_id, f"{uuid4().hex}@example.test")

    assert await fail(patient, known, 11) == await fail(patient, unknown, 11)


# --- planted bugs -------------------------------------------------------------------------------


async def test_a_planted_lock_that_is_not_looked_at_is_found(
    patient: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    async def never(*_: object) -> bool:
        return False

    monkeypatch.setattr(_counting, "is_locked", never)
    one = await accounts.account(host)
    await fail(patient, one)

    assert await works(patient, one)


async def test_a_planted_count_that_is_rolled_back_is_found(
    patient: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    async def forgets(work: Any, counter: bytes) -> bool:
        return False

    monkeypatch.setattr(_counting, "count_failure", forgets)
    one = await accounts.account(host)
    await fail(patient, one)

    assert await works(patient, one)
