"""Second factors: turned on, answered once, stopped after five wrong codes, lost and recovered."""

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pyotp
import pytest

from tests.conftest import Time
from tests.domains.identity.test_users import bearer
from tests.factories import accounts
from tests.factories.accounts import SECRET, code_at
from tests.letters import Letters
from tests.settling import Settle
from tests.suites.sizes import size
from thenga.domains.identity.services.mfa import _codes, _totp
from thenga.kernel.process.host import Host

CHALLENGES = "/identity/mfa/challenges"
FACTORS = "/identity/mfa/factors"
Headers = dict[str, str]

pytestmark = pytest.mark.settles("identity")


async def begin(api: httpx2.AsyncClient, one: accounts.Account) -> Headers:
    """The password is right; what is answered is half a session."""
    answer = await api.post("/identity/auth/sign-in", json=one.signing_in)
    assert answer.json()["outcome"] == "mfa_required", answer.text
    return {"Authorization": f"Bearer {answer.json()['pendingToken']}"}


async def challenge(
    api: httpx2.AsyncClient, headers: Headers, kind: str = "totp", purpose: str = "sign_in"
) -> httpx2.Response:
    return await api.post(CHALLENGES, json={"purpose": purpose, "kind": kind}, headers=headers)


async def answer(
    api: httpx2.AsyncClient, headers: Headers, asked: httpx2.Response, **body: str
) -> httpx2.Response:
    path = f"{CHALLENGES}/{asked.json()['id']}/verify"
    return await api.post(path, json=body, headers=headers)


async def turned_on(api: httpx2.AsyncClient, host: Host) -> tuple[accounts.Account, Headers, Any]:
    """An account whose holder turned an authenticator app on, and the session that did."""
    one = await accounts.account(host)
    headers = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    made = (await api.post(FACTORS, json={"kind": "totp"}, headers=headers)).json()
    code = pyotp.TOTP(made["secret"]).at(host.now())
    done = await api.post(f"{FACTORS}/{made['id']}/verify", json={"code": code}, headers=headers)
    assert done.status_code == 200, done.text
    return one, headers, made


async def test_an_app_is_turned_on_by_scanning_and_one_code(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    one, headers, made = await turned_on(api, host)

    (listed,) = (await api.get(FACTORS, headers=headers)).json()["items"]
    clock.move(timedelta(seconds=60))
    half = await begin(api, one)
    asked = await challenge(api, half)
    whole = await answer(api, half, asked, code=pyotp.TOTP(made["secret"]).at(host.now()))

    assert made["otpauthUri"].startswith("otpauth://totp/Thenga:")
    assert made["qrSvg"].startswith("<svg")
    assert (listed["status"], listed["ready"]) == ("active", True)
    assert {"secret", "otpauthUri", "qrSvg", "codes"}.isdisjoint(listed)
    assert whole.json()["outcome"] == "signed_in"
    assert whole.json()["session"]["assurance"] == "aal2"
    assert whole.json()["session"]["methods"] == ["password", "totp"]
    assert (await api.get("/identity/me", headers=bearer(whole))).status_code == 200


async def test_a_factor_needs_a_fresh_proof_and_its_first_code_in_time(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    one = await accounts.account(host)
    headers = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    made = (await api.post(FACTORS, json={"kind": "totp"}, headers=headers)).json()

    wrong = await api.post(
        f"{FACTORS}/{made['id']}/verify", json={"code": "000000"}, headers=headers
    )
    clock.move(timedelta(minutes=10, seconds=1))
    code = pyotp.TOTP(made["secret"]).at(host.now())
    late = await api.post(f"{FACTORS}/{made['id']}/verify", json={"code": code}, headers=headers)
    stale = await api.post(FACTORS, json={"kind": "totp"}, headers=headers)

    assert (wrong.status_code, wrong.json()["code"]) == (401, "identity-proof-refused")
    assert (late.status_code, late.json()["code"]) == (401, "identity-proof-refused")
    assert (stale.status_code, stale.json()["code"]) == (403, "step-up-required")


@pytest.mark.rule("IDN-15")
async def test_factor_is_needed_to_verify_and_to_turn_it_off(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    _, headers, made = await turned_on(api, host)
    path = f"{FACTORS}/{made['id']}/disable"

    clock.move(timedelta(minutes=6))
    stale = await api.post(path, json={}, headers=headers)
    by_password = await api.post(
        "/identity/auth/step-up", json={"password": accounts.PASSWORD}, headers=headers
    )
    asked = await challenge(api, headers, purpose="step_up")
    proven = await answer(api, headers, asked, code=pyotp.TOTP(made["secret"]).at(host.now()))
    off = await api.post(path, json={}, headers=headers)
    wrong_purpose = await challenge(api, headers, purpose="sign_in")

    assert (stale.status_code, stale.json()["methods"]) == (403, ["totp"])
    assert (by_password.status_code, by_password.json()["code"]) == (409, "identity-factor-needed")
    assert (proven.status_code, proven.json()["outcome"]) == (200, "proven")
    assert (off.status_code, off.json()["status"]) == (200, "disabled")
    assert (wrong_purpose.status_code, wrong_purpose.json()["rule"]) == (422, "IDN-5")


async def test_staff_cannot_turn_off_their_last_factor(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    one = await accounts.account(host, staff=True)
    factor, _ = await accounts.totp(host, one)
    half = await begin(api, one)
    signed_in = await answer(api, half, await challenge(api, half), code=code_at(host.now()))

    refused = await api.post(f"{FACTORS}/{factor.id}/disable", json={}, headers=bearer(signed_in))

    assert (refused.status_code, refused.json()["code"]) == (409, "identity-factor-demanded")


@pytest.mark.rule("IDN-11")
@pytest.mark.parametrize(
    ("at", "code"),
    [(59, "287082"), (1111111109, "081804"), (1111111111, "050471"), (2000000000, "279037")],
)
def test_codes_are_those_of_the_standard(at: int, code: str):
    assert code_at(datetime.fromtimestamp(at, UTC)) == code


async def _ten_at_once(
    api: httpx2.AsyncClient, headers: Headers, asked: list[httpx2.Response]
) -> list[int]:
    answers = await asyncio.gather(*(answer(api, headers, one, code="287082") for one in asked))
    return sorted(one.status_code for one in answers)


@pytest.mark.rule("IDN-11")
@pytest.mark.rule("IDN-14")
async def test_a_code_is_used_once_and_five_wrong_ones_stop_the_factor(
    patient: httpx2.AsyncClient, host: Host, seeded: None, patient_clock: Time
):
    api = patient
    patient_clock.set(datetime.fromtimestamp(59, UTC))
    one = await accounts.account(host)
    await accounts.totp(host, one)
    half = await begin(api, one)
    same = await challenge(api, half)

    at_once = await _ten_at_once(api, half, [same] * 10)
    again = await begin(api, one)
    older = await answer(api, again, await challenge(api, again), code=code_at(_at(29)))
    wrong = 0
    for number in (2, 2, 1):  # five wrong codes, spread over three sign-ins
        session = await begin(api, one)
        asked = await challenge(api, session)
        for _ in range(number):
            wrong += (await answer(api, session, asked, code="000000")).status_code == 401
    stopped = await challenge(api, await begin(api, one))

    assert at_once == [200] + [401] * 9
    assert (older.status_code, wrong) == (401, 5)
    assert (stopped.status_code, stopped.json()["code"]) == (409, "identity-factor-stopped")
    print(f"\ncodes_at_once=10 accepted={at_once.count(200)} older_accepted=0 guesses={wrong}")


def _at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@pytest.mark.rule("IDN-13")
@pytest.mark.rule("IDN-14")
async def test_recovery_code_works_once_and_unlocks_a_factor(
    patient: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    api = patient
    one = await accounts.account(host)
    headers = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    made = await api.post(FACTORS, json={"kind": "recovery_codes"}, headers=headers)
    codes = made.json()["codes"]
    await accounts.totp(host, one)
    await _stop(api, one)

    half = await begin(api, one)
    refused = await challenge(api, half)
    spoken = codes[0].replace("-", " ").lower()
    asked = await challenge(api, half, "recovery_codes")
    whole = await answer(api, half, asked, recoveryCode=spoken)
    other = await begin(api, one)
    used = await answer(
        api, other, await challenge(api, other, "recovery_codes"), recoveryCode=codes[0]
    )
    lifted = await challenge(api, other)

    assert (len(codes), len(set(codes)), len(codes[0])) == (10, 10, 27)
    assert refused.json()["code"] == "identity-factor-stopped"
    assert (whole.status_code, whole.json()["session"]["assurance"]) == (200, "aal2")
    assert (used.status_code, used.json()["code"]) == (401, "identity-proof-refused")
    assert lifted.status_code == 201
    texts = [await letters.to(one.email, number=n) for n in (1, 2, 3)]
    assert any("codes left: 9" in text for text in texts)


@pytest.mark.rule("IDN-14")
async def test_a_stop_lasts_a_day_and_then_one_wrong_code_stops_again(
    patient: httpx2.AsyncClient, host: Host, patient_clock: Time
):
    api = patient
    user = await accounts.account(host)
    await accounts.totp(host, user)
    await _stop(api, user)
    stopped_at = patient_clock.now()

    patient_clock.set(stopped_at + timedelta(hours=23, minutes=59))
    early = await challenge(api, await begin(api, user))
    patient_clock.set(stopped_at + timedelta(hours=24, minutes=1))
    half = await begin(api, user)
    wrong = await answer(api, half, await challenge(api, half), code="000000")
    again = await challenge(api, await begin(api, user))
    patient_clock.set(stopped_at + timedelta(hours=48, minutes=2))
    half = await begin(api, user)
    right = code_at(host.now())
    whole = await answer(api, half, await challenge(api, half), code=right)
    shown = await api.get(FACTORS, headers=bearer(whole))

    assert early.json()["code"] == again.json()["code"] == "identity-factor-stopped"
    assert (wrong.status_code, whole.status_code) == (401, 200)
    assert [(each["stopped"], each["stoppedAt"]) for each in shown.json()["items"]] == [
        (False, None)
    ]


async def _stop(api: httpx2.AsyncClient, one: accounts.Account) -> None:
    for number in (3, 2):
        half = await begin(api, one)
        asked = await challenge(api, half)
        for _ in range(number):
            assert (await answer(api, half, asked, code="000000")).status_code == 401


async def test_two_codes_left_are_announced_and_tries_are_limited(
    patient: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    api = patient
    one = await accounts.account(host)
    headers = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    codes = (await api.post(FACTORS, json={"kind": "recovery_codes"}, headers=headers)).json()[
        "codes"
    ]
    await accounts.use_codes(host, one, 7)

    answers = []
    for code in [codes[7], *["0" * 24] * 4, codes[8]]:
        asked = await challenge(api, headers, "recovery_codes", "step_up")
        answers.append((await answer(api, headers, asked, recoveryCode=code)).status_code)

    assert answers == [200, 401, 401, 401, 401, 429]
    texts = [await letters.to(one.email, number=n) for n in (1, 2, 3)]
    assert any("codes left: 2" in text for text in texts)


@pytest.mark.rule("IDN-13")
async def test_a_new_set_of_codes_kills_the_old_one(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    one = await accounts.account(host)
    headers = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))
    old = await api.post(FACTORS, json={"kind": "recovery_codes"}, headers=headers)
    await api.post(FACTORS, json={"kind": "recovery_codes"}, headers=headers)

    asked = await challenge(api, headers, "recovery_codes", "step_up")
    refused = await answer(api, headers, asked, recoveryCode=old.json()["codes"][0])

    assert refused.status_code == 401
    assert len((await api.get(FACTORS, headers=headers)).json()["items"]) == 1


async def test_an_eleventh_factor_is_refused(api: httpx2.AsyncClient, host: Host, seeded: None):
    one = await accounts.account(host)
    headers = bearer(await api.post("/identity/auth/sign-in", json=one.signing_in))

    made = [
        (await api.post(FACTORS, json={"kind": "totp"}, headers=headers)).status_code
        for _ in range(11)
    ]

    assert made == [201] * 10 + [409]


@pytest.mark.rule("IDN-11")
async def test_no_code_is_used_twice_however_often_it_is_sent(
    patient: httpx2.AsyncClient, host: Host, seeded: None, patient_clock: Time
):
    """Every code is sent ten times at once, each in a challenge of its own."""
    reused, codes = 0, size(3, 500)
    one = await accounts.account(host)
    await accounts.totp(host, one)
    for _ in range(codes):
        patient_clock.move(timedelta(seconds=60))
        reused += await _accepted(patient, host, one) - 1

    print(f"\ncodes={codes} times=10 reused={reused}")
    assert reused == 0


async def _accepted(api: httpx2.AsyncClient, host: Host, one: accounts.Account) -> int:
    half = await begin(api, one)
    asked = [await challenge(api, half) for _ in range(10)]
    code = code_at(host.now())
    answers = await asyncio.gather(*(answer(api, half, each, code=code) for each in asked))
    return [each.status_code for each in answers].count(200)


# --- planted bugs -------------------------------------------------------------------------------


async def test_a_planted_check_before_the_update_is_found(
    patient: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    patient_clock: Time,
    monkeypatch: pytest.MonkeyPatch,
):
    async def looks_then_writes(work: Any, factor: Any, step: int) -> bool:
        return bool(factor.last_step < step)

    monkeypatch.setattr(_totp, "take", looks_then_writes)
    one = await accounts.account(host)
    await accounts.totp(host, one)

    accepted = await _accepted(patient, host, one)

    print(f"\nplanted: accepted={accepted} of 10")
    assert accepted > 1


async def test_a_planted_code_that_is_not_consumed_is_found(
    patient: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_codes, "_CONSUME", _codes._CONSUME.replace("AND used_at IS NULL", ""))
    one = await accounts.account(host)
    headers = bearer(await patient.post("/identity/auth/sign-in", json=one.signing_in))
    made = await patient.post(FACTORS, json={"kind": "recovery_codes"}, headers=headers)

    used = []
    for _ in range(2):
        asked = await challenge(patient, headers, "recovery_codes", "step_up")
        done = await answer(patient, headers, asked, recoveryCode=made.json()["codes"][0])
        used.append(done.status_code)

    assert used == [200, 200]


def test_the_secret_is_the_one_of_the_vectors():
    assert base64.b32encode(SECRET).decode() == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
