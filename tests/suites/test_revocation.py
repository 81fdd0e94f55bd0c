"""A session that was ended is refused by every check that starts after the answer (IDN-4).

Two api processes; one is killed and started again, then Redis is killed; 16 clients at once.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import httpx2
import pytest

from tests.factories import identity
from tests.factories.identity import Member
from tests.suites import calls
from tests.suites.own import own_servers, settings_of
from tests.suites.processes import ApiProcess
from tests.suites.sizes import size
from thenga import topology
from thenga.domains.identity.services.sessions.sessions import StartedSession
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host
from thenga.tooling.dev import servers

CLIENTS = 16
CHECKS_EACH = 20
# The degraded limit, a quarter for each process while Redis is dead, must stay out of the way.
UNLIMITED = {"THENGA_ACTOR_PER_MINUTE": "10000000", "THENGA_IN_FLIGHT_TENANT": "200"}
FORGETFUL = "tests.suites.forgetful_app:app"


@dataclass
class Tally:
    """What a run came to; a window is how long after the answer a check was still let in."""

    revocations: int = 0
    allows_before: int = 0
    checks_meanwhile: int = 0
    checks_after: int = 0
    allows_after: int = 0
    worst_window: float = 0.0
    faults: list[str] = field(default_factory=list)
    dead: list[tuple[str, float]] = field(default_factory=list)


@dataclass
class Stage:
    """Two processes on servers of their own, and a person who is signed in many times."""

    home: Path
    host: Host
    apis: list[ApiProcess]
    client: httpx2.AsyncClient
    owner: Member
    tally: Tally = field(default_factory=Tally)
    turn: int = 0

    async def ask(self, token: str) -> httpx2.Response:
        """One check: the next of three routes, on the next of the processes."""
        self.turn += 1
        url, headers = self.apis[self.turn % len(self.apis)].url, _bearer(token)
        organization = self.owner.organization_id
        match self.turn % 3:
            case 0:
                return await self.client.get(f"{url}/identity/sessions?limit=1", headers=headers)
            case 1:
                path = f"{url}/organizations/{organization}/equipment?limit=1"
                return await self.client.get(path, headers=headers)
            case _:
                sent = await calls.MAKERS["authorize"](self.host, self.owner, organization)
                path = f"{url}/identity/authorize"
                return await self.client.post(path, json=sent.body(sent.ids), headers=headers)


@dataclass
class Place:
    """Servers whose Redis may be killed, and a host that uses them."""

    home: Path
    env: dict[str, str]
    host: Host


@pytest.fixture(scope="module")
async def place() -> AsyncIterator[Place]:
    with own_servers() as (home, env):
        env |= UNLIMITED
        settings = settings_of(env)
        domains = topology.load(topology.DOMAINS)
        migrate(settings, [Migrated(d.name, d.migrations, d.gate) for d in domains])
        host = make_host(settings)
        await domains[0].at_deployment(host, domains)
        yield Place(home, env, host)
        await host.close()


@asynccontextmanager
async def staged(
    place: Place, app: str | None = None, *, processes: int = 2
) -> AsyncIterator[Stage]:
    servers.start(place.home, "redis")
    owner = await identity.member(place.host, new_id(), role="owner")
    apis = [ApiProcess(place.env, place.home, name=f"api-{n}", app=app) for n in range(processes)]
    # A kept connection may be one to the process that was killed.
    bounds = httpx2.Limits(max_connections=4 * CLIENTS, max_keepalive_connections=0)
    try:
        await asyncio.gather(*(asyncio.to_thread(api.start) for api in apis))
        async with httpx2.AsyncClient(limits=bounds, trust_env=False, timeout=120) as client:
            yield Stage(place.home, place.host, apis, client, owner)
    finally:
        for api in apis:
            api.kill()


async def revoke_many(stage: Stage, count: int) -> None:
    """End sessions in the three ways there are, each asked about before, meanwhile and after."""
    places = asyncio.Semaphore(CLIENTS // 4)
    ways = [_revoked_by_other, _revoked_by_itself, _signed_out]

    async def one(number: int) -> None:
        async with places:
            await _revoke(stage, ways[number % len(ways)])

    await asyncio.gather(*(one(number) for number in range(count)))


async def _revoke(
    stage: Stage, end: Callable[[Stage, StartedSession, str], Awaitable[httpx2.Response]]
) -> None:
    tally = stage.tally
    signed_in = await calls.spare_session(stage.host, stage.owner)
    token = signed_in.pair.access_token
    # Each route on each process, so that whoever remembers an answer has one to remember.
    before = await asyncio.gather(*(stage.ask(token) for _ in range(6)))
    tally.allows_before += sum(answer.is_success for answer in before)
    meanwhile = [asyncio.create_task(stage.ask(token)) for _ in range(4)]
    answer = await end(stage, signed_in, stage.apis[tally.revocations % len(stage.apis)].url)
    answered = perf_counter()
    tally.revocations += 1
    if answer.status_code != 200:
        tally.faults.append(f"ending a session: {answer.status_code} {answer.text}")
    tally.dead.append((token, answered))
    await _check_dead(stage, [(token, answered)] * CHECKS_EACH)
    await asyncio.gather(*meanwhile)
    tally.checks_meanwhile += len(meanwhile)


async def _check_dead(stage: Stage, dead: Iterable[tuple[str, float]]) -> None:
    """Checks that start after the answer: all must be refused, and for that reason."""
    places = asyncio.Semaphore(CLIENTS)

    async def one(token: str, answered: float) -> None:
        async with places:
            begun = perf_counter()
            answer = await stage.ask(token)
        stage.tally.checks_after += 1
        if answer.is_success:
            stage.tally.allows_after += 1
            stage.tally.worst_window = max(stage.tally.worst_window, begun - answered)
        elif (answer.status_code, answer.json()["code"]) != (401, "session-revoked"):
            stage.tally.faults.append(f"{answer.status_code} {answer.text}")

    await asyncio.gather(*(one(*each) for each in dead))


async def _revoked_by_other(stage: Stage, signed_in: StartedSession, url: str) -> httpx2.Response:
    path = f"{url}/identity/sessions/{signed_in.session.id}/revoke"
    return await stage.client.post(path, headers=stage.owner.headers)


async def _revoked_by_itself(stage: Stage, signed_in: StartedSession, url: str) -> httpx2.Response:
    path = f"{url}/identity/sessions/{signed_in.session.id}/revoke"
    return await stage.client.post(path, headers=_bearer(signed_in.pair.access_token))


async def _signed_out(stage: Stage, signed_in: StartedSession, url: str) -> httpx2.Response:
    headers = _bearer(signed_in.pair.access_token)
    return await stage.client.post(f"{url}/identity/auth/sign-out", headers=headers)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _figures(tally: Tally) -> str:
    return (
        f"revocations={tally.revocations} checks_after={tally.checks_after} "
        f"allows_after={tally.allows_after} worst_window_ms={tally.worst_window * 1000:.0f}"
    )


async def test_no_check_after_a_revocation_is_allowed(place: Place) -> None:
    quarter = size(24, 1_000) // 4
    async with staged(place) as stage:
        tally = stage.tally
        await revoke_many(stage, 2 * quarter)

        # When one process dies and comes back, it has nothing to remember wrongly.
        await asyncio.to_thread(stage.apis[1].kill)
        await asyncio.to_thread(stage.apis[1].start)
        await _check_dead(stage, tally.dead)
        await revoke_many(stage, quarter)

        # When Redis is dead, limits are stricter and rights are as before.
        servers.stop(stage.home, "redis", signal.SIGKILL)
        await _check_dead(stage, tally.dead)
        await revoke_many(stage, quarter)
        await _check_dead(stage, tally.dead)

    print(f"{_figures(tally)} checks_meanwhile={tally.checks_meanwhile}")
    assert tally.faults == []
    assert tally.allows_after == 0
    assert tally.allows_before == 6 * tally.revocations
    assert tally.checks_meanwhile == 4 * tally.revocations
    assert tally.revocations == size(24, 1_000)
    assert tally.checks_after >= size(480, 20_000)


@pytest.mark.prove
async def test_a_planted_memory_of_the_gate_is_found(place: Place) -> None:
    async with staged(place, FORGETFUL, processes=1) as stage:
        await revoke_many(stage, 6)

    print(f"planted: {_figures(stage.tally)}")
    assert stage.tally.allows_after > 0
    assert stage.tally.worst_window > 0
