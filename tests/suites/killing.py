"""A whole platform in processes of its own, and the chaos that kills them one after another."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from signal import SIGKILL

from tests.factories import facts
from tests.providers.loopback import serving
from tests.suites.own import own_servers, settings_of
from tests.suites.processes import ApiProcess, WorkerProcess
from thenga import topology
from thenga.domains.billing.adapters.providers import sandbox_secret
from thenga.domains.billing.adapters.sandbox_server import SandboxServer
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.starting import make_host
from thenga.tooling.dev import servers
from thenga.tooling.dev.processes import free_ports

# A retrying client is no attacker here, and all of them come from one address.
_LIMITS = {
    "THENGA_ACTOR_PER_MINUTE": "1000000",
    "THENGA_AUTH_ADDRESS_PER_MINUTE": "1000000",
    "THENGA_DRAIN_SECONDS": "3",
}

_WRITES_BETWEEN = 10  # acknowledged between two kills, at least


@dataclass(frozen=True)
class Victim:
    """Something that can be killed, and started again as it was."""

    name: str
    kill: Callable[[], None]
    start: Callable[[], None]


@dataclass(frozen=True)
class Platform:
    settings: Settings
    urls: list[str]
    victims: list[Victim]
    provider: SandboxServer  # a stranger: it lives through all of it, and remembers


@asynccontextmanager
async def platform() -> AsyncIterator[Platform]:
    """Two api processes and a worker on servers of their own, and whom sandboxes pay with."""
    *ports, at_provider = free_ports(3)
    called = f"http://127.0.0.1:{ports[0]}"
    with own_servers() as (home, env):
        env |= _LIMITS | {
            "THENGA_BASE_URL": called,
            "THENGA_SANDBOX_URL_BILLING": f"http://127.0.0.1:{at_provider}",
        }
        settings = settings_of(env)
        await _deploy(settings)
        numbered = enumerate(ports, 1)
        apis = [ApiProcess(env, home, name=f"api-{n}", port=port) for n, port in numbered]
        worker = WorkerProcess(env, home)
        running: list[ApiProcess | WorkerProcess] = [*apis, worker]
        provider = await _provider(settings, env["THENGA_SANDBOX_URL_BILLING"])
        async with serving(provider.app, at_provider):
            try:
                await asyncio.gather(*(asyncio.to_thread(child.start) for child in running))
                victims = [_server(home, "postgres"), _server(home, "nats"), *map(_child, running)]
                yield Platform(settings, [api.url for api in apis], victims, provider)
            finally:
                for child in running:
                    child.kill()


async def _provider(settings: Settings, url: str) -> SandboxServer:
    async with hosted(settings) as host:
        return SandboxServer(
            secret=sandbox_secret(host),
            base_url=url,
            notify_base=settings.base_url,
            now=host.now,
        )


def _child(child: ApiProcess | WorkerProcess) -> Victim:
    return Victim(child.log.stem, child.kill, child.start)


def _server(home: Path, name: str) -> Victim:
    return Victim(
        name, partial(servers.stop, home, name, SIGKILL), partial(servers.start, home, name)
    )


async def _deploy(settings: Settings) -> None:
    domains = topology.load(topology.DOMAINS)
    migrate(settings, [Migrated(d.name, d.migrations, d.gate) for d in domains])
    async with hosted(settings) as host:
        for domain in domains:
            if domain.at_deployment is not None:
                await domain.at_deployment(host, domains)
        await facts.without_bounds(host)


@asynccontextmanager
async def hosted(settings: Settings) -> AsyncIterator[Host]:
    """A host of this process, with connections that no kill has touched."""
    host = make_host(settings)
    try:
        yield host
    finally:
        await host.close()


async def kill_some(
    victims: list[Victim], count: int, chance: random.Random, writes: Callable[[], int]
) -> list[str]:
    """Kill each of them once and then again, always under load; gives whom it hit.

    Once writes go through again the next one is hit, so some are down together, and some start
    while what they need is away.
    """
    rounds = [chance.sample(victims, len(victims)) for _ in range(count // len(victims) + 1)]
    back: dict[str, asyncio.Task[None]] = {}
    killed = []
    for victim in [one for several in rounds for one in several][:count]:
        await _under_load(writes)
        await asyncio.sleep(chance.uniform(0, 0.5))
        if victim.name in back:
            await back[victim.name]
        await asyncio.to_thread(victim.kill)
        killed.append(victim.name)
        back[victim.name] = asyncio.create_task(_revive(victim, chance.uniform(0, 0.5)))
    await asyncio.gather(*back.values())
    return killed


async def _under_load(writes: Callable[[], int]) -> None:
    enough = writes() + _WRITES_BETWEEN
    async with asyncio.timeout(300):
        while writes() < enough:  # the clients know nothing of this
            await asyncio.sleep(0.02)


async def _revive(victim: Victim, after: float) -> None:
    await asyncio.sleep(after)
    await asyncio.to_thread(victim.start)
