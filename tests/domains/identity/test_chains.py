"""Refreshing: one chain a session, however many clients race (must show 2; IDN-3)."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories.identity import Person
from tests.suites.sizes import size
from thenga.domains.identity.services import memberships
from thenga.domains.identity.services.auth import _refreshing
from thenga.kernel.crypto import tokens
from thenga.kernel.process.host import Host

REFRESH = "/identity/auth/refresh"
CLIENTS = 10


@dataclass
class Chains:
    """What became of sessions whose token ten clients used at once."""

    chains: int = 0
    pairs: int = 0
    live_heads: int = 0
    orphans: int = 0
    signed_out: int = 0

    def __str__(self) -> str:
        return (
            f"chains={self.chains} live_heads={self.live_heads} "
            f"orphan_chains={self.orphans} false_signouts={self.signed_out}"
        )


async def race(api: httpx2.AsyncClient, host: Host, chains: int) -> Chains:
    found = Chains(chains=chains)
    for _ in range(chains):
        who = await people.person(host)
        body = {"refreshToken": who.refresh_token}
        answers = await asyncio.gather(*(api.post(REFRESH, json=body) for _ in range(CLIENTS)))
        found.signed_out += sum(answer.status_code != 200 for answer in answers)
        given = {a.json()["refreshToken"] for a in answers if a.status_code == 200}
        found.pairs += len(given)
        live = await _live(host, who.session_id)
        found.live_heads += len(live)
        found.orphans += len(live - {tokens.digest(text) for text in given})
    return found


async def _live(host: Host, session_id: UUID) -> set[bytes]:
    """The refresh tokens of a session that nobody has used yet."""
    async with host.engines.connection("identity", "identity_system") as connection:
        rows = await connection.fetch(
            "SELECT hash FROM identity.refresh_token WHERE session_id = $1 AND used_at IS NULL",
            session_id,
        )
    return {row["hash"] for row in rows}


@pytest.mark.rule("IDN-3")
async def test_ten_clients_at_once_get_one_successor(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    chains = size(12, 1_000)

    found = await race(api, host, chains)
    thief = await people.person(host)
    body = {"refreshToken": thief.refresh_token}
    fresh = await api.post(REFRESH, json=body)
    clock.move(timedelta(seconds=31))
    late = await api.post(REFRESH, json=body)
    heir = await api.post(REFRESH, json={"refreshToken": fresh.json()["refreshToken"]})

    print(f"\n{found}")
    assert (found.pairs, found.live_heads) == (chains, chains)
    assert (found.orphans, found.signed_out) == (0, 0)
    assert (late.status_code, late.json()["code"]) == (401, "session-revoked")
    assert (heir.status_code, await _cause(host, thief)) == (401, "token_reuse")


async def _cause(host: Host, who: Person) -> str:
    async with host.engines.connection("identity", "identity_system") as connection:
        return str(
            await connection.fetchval(
                "SELECT ended_cause FROM identity.session WHERE id = $1", who.session_id
            )
        )


async def test_a_planted_refresh_that_looks_before_it_writes_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    unconditional = _refreshing._USE.replace("AND used_at IS NULL", "")
    monkeypatch.setattr(_refreshing, "_USE", unconditional)

    found = await race(api, host, 2)

    print(f"\nplanted: {found}")
    assert found.live_heads > 2 or found.orphans


@pytest.mark.rule("IDN-51")
async def test_a_sandbox_moved_by_400_days_signs_nobody_out(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner", sandbox=True)
    colleague = await people.member(host, owner.organization_id, role="viewer")
    work = people.working(host, owner.organization_id)
    await memberships.move_clock(work, owner.organization_id, ahead=timedelta(days=400), sequence=1)
    await work.finish()
    signed_out = 0
    for who in (owner, colleague):
        there = who.headers | {"X-Organization-Id": str(owner.organization_id)}
        me = await api.get("/identity/me", headers=there)
        listed = await api.get("/identity/sessions", headers=there)
        refreshed = await api.post(REFRESH, json={"refreshToken": who.refresh_token})
        shown = [item["status"] for item in listed.json()["items"]]
        signed_out += (me.status_code, shown, refreshed.status_code) != (200, ["active"], 200)

    print(f"\nsandbox_days=400 people=2 signed_out={signed_out}")
    assert signed_out == 0
