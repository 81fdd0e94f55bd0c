"""Bodies at the socket: a client that sends none keeps nobody else out (SEC-60)."""

import asyncio
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest

from tests.factories import identity as people
from tests.suites.processes import ApiProcess, with_own_limits
from tests.suites.sockets import FLOODING, OTHER, ask_often, connect, head, opened
from thenga.kernel.process.host import Host
from thenga.tooling.dev import servers

_SILENT = (200, 205)
_ASKED = 30

PATHS = {
    "permission": "/v1/organizations/019a0000-0000-7000-8000-000000000001/equipment",
    "anyone": "/v1/identity/auth/sign-in",
    "signed": "/v1/billing/providers/paystack/callbacks",
    "unknown": "/v1/nothing/here",
}
INTERNAL = ("/metrics", "/internal/ports/identity.decisions/enter")

pytestmark = pytest.mark.rule("SEC-60")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-edge-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
async def api(home: Path, folder: Path, seeded: None) -> AsyncIterator[ApiProcess]:
    made = ApiProcess(with_own_limits(servers.up(home), 13), folder, name="api-edge")
    await asyncio.to_thread(made.start)
    yield made
    await asyncio.to_thread(made.kill)


async def silent_bodies(
    port: int,
    path: str,
    count: int,
    api: ApiProcess,
    *lines: str,
    seconds: float = 0.2,
    until_waiting: bool = True,
) -> tuple[Counter[int], Counter[int], Counter[int]]:
    """What others hear, what the same address hears and what the silent ones hear meanwhile."""
    asked = api.port
    async with opened(port, [head(path, *lines)] * count) as silent:
        # The server reads in the order in which it is called: then it has read those heads.
        await ask_often(asked, "/health/live", 3, FLOODING)
        if until_waiting:
            await _none_in_progress(api)
        others = await ask_often(asked, "/v1/billing/plans", _ASKED, OTHER)
        same = await ask_often(asked, "/v1/billing/plans", _ASKED, FLOODING)
        heard = Counter(await asyncio.gather(*(raw.status(seconds) for raw in silent)))
    return others, same, heard


async def _none_in_progress(api: ApiProcess) -> None:
    """Until the heads are dealt with: a caller is in progress while its permission is checked."""
    async with asyncio.timeout(120), httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        while True:
            await client.get(f"{api.url}/health/live")  # the figure is renewed by each request
            text = (await client.get(f"{api.internal}/metrics")).text
            found = re.search(r"^thenga_http_in_flight (\S+)$", text, re.MULTILINE)
            assert found is not None, text
            if float(found[1]) <= 1:  # itself
                return


@pytest.mark.prove
@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("count", _SILENT)
async def test_silent_bodies_keep_nobody_out(api: ApiProcess, kind: str, count: int) -> None:
    others, same, heard = await silent_bodies(api.port, PATHS[kind], count, api)

    print(f"silent={count} to={kind} 503_for_others={others[503]}/{_ASKED}", end=" ")
    print(f"503_for_the_same_address={same[503]}/{_ASKED} silent_ones_heard={dict(heard)}")
    assert others[503] == same[503] == 0
    assert others.total() == _ASKED


@pytest.mark.prove
@pytest.mark.parametrize("count", _SILENT)
async def test_silent_port_calls_keep_nobody_out(api: ApiProcess, count: int) -> None:
    """Their own listener refuses them by their headers, and the public one does not notice."""
    stamp = f"Thenga-Timestamp: {int(time.time())}"
    lines = (stamp, f"Thenga-Signature: {'0' * 64}", f"Thenga-Nonce: {'0' * 32}")
    path = "/internal/ports/identity.decisions/enter"
    port = getattr(api, "internal_port", api.port)

    others, same, heard = await silent_bodies(port, path, count, api, *lines, seconds=60)

    print(f"silent={count} to=ports 503_for_others={others[503]}/{_ASKED}", end=" ")
    print(f"503_for_the_same_address={same[503]}/{_ASKED} silent_ones_heard={dict(heard)}")
    assert others[503] == same[503] == 0
    assert heard == {401: count}


@pytest.mark.prove
async def test_a_planted_bound_that_counts_bodies_is_found(
    home: Path, folder: Path, seeded: None
) -> None:
    env = with_own_limits(servers.up(home), 13)
    planted = ApiProcess(env, folder, name="api-greedy", app="tests.suites.planted_apps:greedy")
    await asyncio.to_thread(planted.start)
    try:
        others, _, _ = await silent_bodies(
            planted.port, PATHS["signed"], 205, planted, until_waiting=False
        )
    finally:
        await asyncio.to_thread(planted.kill)

    assert others[503] > 0


async def test_ports_and_figures_are_not_where_customers_call(api: ApiProcess) -> None:
    public = [await ask_often(api.port, path, 1) for path in INTERNAL]
    internal = [await ask_often(api.internal_port, path, 1) for path in INTERNAL]

    assert public == [{404: 1}] * 2
    assert internal == [{200: 1}, {405: 1}]


async def test_rights_that_end_during_a_slow_body_are_gone(api: ApiProcess, host: Host) -> None:
    """The caller is known before the body; whoever dawdles with it is asked for again."""
    owner = await people.member(host, uuid4(), role="owner")
    path, body = f"/v1/organizations/{owner.organization_id}/equipment", b'{"name": "a"}'
    lines = (f"Authorization: Bearer {owner.token}", "Content-Type: application/json")
    patient, hasty = await connect(api.port), await connect(api.port)
    for raw in (patient, hasty):
        await raw.send(head(path, *lines, length=len(body)))
    await hasty.send(body[1:])
    before = await hasty.status(30)

    await asyncio.sleep(1.2)
    async with httpx2.AsyncClient(base_url=api.url, trust_env=False, timeout=60) as client:
        path = f"/identity/sessions/{owner.session_id}/revoke"
        assert (await client.post(path, headers=owner.headers)).status_code == 200
    await patient.send(body[1:])

    assert before not in (401, -1)
    assert await patient.status(30) == 401
