"""No refusal tells who exists: the same bytes, after the same time (must show 3, 10; IDN-52)."""

import re
from collections.abc import AsyncIterator
from itertools import count
from statistics import median
from time import perf_counter, process_time
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests import statements
from tests.domains.identity.test_locks import SIGN_IN, fail
from tests.factories import accounts
from tests.letters import Letters
from tests.settling import Settle
from tests.suites.sizes import size
from thenga.domains.identity.services.auth import _hashing
from thenga.domains.identity.tables import UserStatus
from thenga.kernel.process.host import Host

FULL_HASHES = True
KINDS = ("known", "unknown", "locked", "disabled", "without password")
TRIES = size(4, 2_000)
# Beside other work the wall clock tells of that work, the time of this process does not.
_clock = perf_counter if size(0, 1) else process_time
_OF_ONE = 8  # tries of one account, so that none is locked which should not be

pytestmark = pytest.mark.settles("identity")


class Refusals:
    """Refused sign-ins of each kind: what was answered, how long it took, and what was done."""

    def __init__(self) -> None:
        self.told: set[Any] = set()
        self.took: dict[str, list[float]] = {kind: [] for kind in KINDS}
        self.hashes: dict[str, set[int]] = {kind: set() for kind in KINDS}
        self.statements: dict[str, set[tuple[str, ...]]] = {kind: set() for kind in KINDS}

    def gap(self) -> float:
        """Seconds between the slowest and the fastest kind, by their medians."""
        medians = [median(times) for times in self.took.values()]
        return max(medians) - min(medians)

    def auc(self) -> list[float]:
        """How well each kind can be told from a known address by time alone; 0.5 is not at all."""
        known = self.took["known"]
        return [_auc(known, self.took[kind]) for kind in KINDS[1:]]

    def __str__(self) -> str:
        aucs = self.auc()
        return (
            f"tries={len(self.took['known'])} kinds={len(KINDS)} answers={len(self.told)} "
            f"hashes={self.hashes} statements={sum(map(len, self.statements.values()))} "
            f"median_gap_ms={self.gap() * 1000:.2f} auc={min(aucs):.2f}..{max(aucs):.2f}"
        )


def _auc(one: list[float], other: list[float]) -> float:
    wins = sum((a < b) + 0.5 * (a == b) for a in one for b in other)
    return wins / (len(one) * len(other))


async def _addresses(host: Host, api: httpx2.AsyncClient, kind: str) -> AsyncIterator[str]:
    """Addresses of a kind, each used a few times only; the locked ones are locked."""
    for _ in count():
        one = await accounts.account(
            host,
            status=UserStatus.DISABLED if kind == "disabled" else UserStatus.ACTIVE,
            password=kind != "without password",
        )
        if kind == "locked":
            await fail(api, one, 10)
        email = f"{uuid4().hex}@example.test" if kind == "unknown" else one.email
        for _ in range(10_000 if kind == "locked" else _OF_ONE):
            yield email


async def refused(api: httpx2.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch) -> Refusals:
    found, hashes = Refusals(), hashed(monkeypatch)
    addresses = {kind: _addresses(host, api, kind) for kind in KINDS}
    for _ in range(TRIES):
        for kind in KINDS:
            email = await anext(addresses[kind])
            body = {"method": "password", "email": email, "password": "not the right one"}
            hashes.clear()
            with statements.counted() as sent:
                began = _clock()
                answer = await api.post(SIGN_IN, json=body)
                found.took[kind].append(_clock() - began)
            found.told.add(_bytes(answer))
            found.hashes[kind].add(len(hashes))
            found.statements[kind].add(tuple(sent))
    return found


def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes that passwords are compared with from now on."""
    compared: list[str] = []
    matches = _hashing._matches

    def noting(phc: str, password: str) -> bool:
        compared.append(phc)
        return matches(phc, password)

    monkeypatch.setattr(_hashing, "_matches", noting)
    return compared


def _bytes(answer: httpx2.Response) -> tuple[int, bytes, tuple[str, ...]]:
    plain = re.sub(rb'"requestId":"[^"]*"', b"", answer.content)
    return answer.status_code, plain, tuple(sorted(answer.headers))


@pytest.mark.rule("IDN-5")
@pytest.mark.rule("IDN-52")
async def test_every_refused_sign_in_is_the_same_and_takes_as_long(
    patient: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    found = await refused(patient, host, monkeypatch)

    print(f"\n{found}")
    assert {told[0] for told in found.told} == {401}
    assert len(found.told) == 1
    assert found.hashes == {kind: {1} for kind in KINDS}
    assert found.statements == dict.fromkeys(KINDS, found.statements["known"])
    if size(0, 1):  # beside other work the time tells of that work
        most = median(found.took["known"])
        assert found.gap() <= int(max(2.0, most * 50)) / 1000
        assert min(found.auc()) >= 0.45 and max(found.auc()) <= 0.55


async def test_a_planted_short_cut_for_unknown_addresses_is_found(
    patient: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    whole = _hashing.is_right

    async def hurried(password: str, phc: str | None, **how: Any) -> bool:
        return phc is not None and await whole(password, phc, **how)

    monkeypatch.setattr(_hashing, "is_right", hurried)

    found = await refused(patient, host, monkeypatch)

    print(f"\nplanted: {found}")
    assert found.hashes["unknown"] == {0}
    assert found.hashes["known"] == {1}
    if size(0, 1):
        assert found.gap() > median(found.took["known"]) / 2
        assert max(found.auc()) > 0.9 or min(found.auc()) < 0.1


@pytest.mark.rule("IDN-9")
async def test_who_registered_a_foreign_address_gets_nothing_of_it(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    victim = f"victim.{uuid4().hex[:8]}@example.test"
    register = "/identity/auth/register"

    first = await api.post(register, json={"email": victim, "displayName": "Attacker"})
    planted = await letters.link_to(victim)
    await api.post(register, json={"email": victim, "displayName": "Nomsa"})
    link = await letters.link_to(victim, number=2)
    joined = await _open(api, link, accounts.PASSWORD)
    dead = await _open(api, planted, "attackers own secret words")
    known = await api.post(register, json={"email": victim, "displayName": "Again"})
    guess = {"method": "password", "email": victim, "password": "attackers own secret words"}
    attacker = await api.post(SIGN_IN, json=guess)

    credentials = await _credentials(host, joined.json()["session"]["userId"])
    name = await api.get(
        "/identity/me", headers={"Authorization": f"Bearer {joined.json()['accessToken']}"}
    )
    assert (dead.status_code, dead.json()["code"]) == (409, "identity-link-spent")
    assert (joined.status_code, attacker.status_code) == (200, 401)
    assert (known.status_code, known.content) == (first.status_code, first.content)
    assert name.json()["account"]["displayName"] == "Nomsa"
    assert credentials == {"password": 1, "session": 1, "known_device": 1}
    print("\ncredentials_of_attacker=0")


async def _open(api: httpx2.AsyncClient, token: str, password: str) -> httpx2.Response:
    return await api.post(
        "/identity/auth/verify-address", json={"token": token, "password": password}
    )


async def _credentials(host: Host, user_id: str) -> dict[str, int]:
    async with host.engines.connection("identity", "identity_system") as connection:
        return {
            table: await connection.fetchval(
                f"SELECT count(*) FROM identity.{table} WHERE user_id = $1::uuid", user_id
            )
            for table in ("password", "session", "known_device")
        }
