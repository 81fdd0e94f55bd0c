"""The OpenAPI document is true: whatever is sent, the answer is one that it describes."""

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from tests.factories import identity
from tests.suites import clocks, fuzzing
from tests.suites.processes import ApiProcess
from tests.suites.sizes import size
from thenga import topology
from thenga.domains.identity.services import sessions
from thenga.domains.identity.services.sessions import SignedIn
from thenga.domains.organization.services import equipment, organizations
from thenga.kernel.actors import SYSTEM, Scope
from thenga.kernel.db.reader import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.dev import servers
from thenga.kernel.events.meshside import MeshSide
from thenga.kernel.host import Host

EXAMPLES = size(check=20, prove=200)
GENEROUS = {
    "THENGA_ACTOR_PER_MINUTE": "10000000",
    "THENGA_AUTH_ADDRESS_PER_MINUTE": "10000000",
    "THENGA_AUTH_ACCOUNT_PER_MINUTE": "10000000",
}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-fuzz-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
async def known(host: Host, seeded: None) -> fuzzing.Known:
    """A sandbox with its owner, machines, and other sessions of the owner to end."""
    founder = await identity.person(host)
    scope = Scope(actor=SYSTEM, user_id=founder.user_id)
    work = Work(host, "organization", scope, Origin("fuzz", "fuzz", "fuzz"))
    founded = await organizations.found(
        work,
        organization_type="enterprise",
        mode="sandbox",
        time_zone="Africa/Johannesburg",
        locale="en-ZA",
        profile={"legalName": "Mokoena Plant Hire", "legalForm": "private_company"},
    )
    fields = {"name": "Digger", "quantity": 1, "expiries": []}
    machines = [await equipment.add(work, fields=dict(fields)) for _ in range(20)]
    await work.finish()
    async with clocks.running([MeshSide(host, topology.load(topology.DOMAINS))]):
        await clocks.until(lambda: _is_owned(host, founded.id))
    others = [await _session(host, founder) for _ in range(20)]
    spare = [await _session(host, founder) for _ in range(EXAMPLES + 20)]
    return fuzzing.Known(
        headers=founder.headers,
        organization_id=str(founded.id),
        ids={
            "equipmentId": [str(machine.id) for machine in machines],
            "sessionId": [str(other.session.id) for other in others],
        },
        spare_tokens=itertools.cycle([s.pair.access_token for s in spare]),
    )


async def _is_owned(host: Host, organization_id: UUID) -> bool:
    """Identity was told of the organization and has made its founder the owner."""
    async with host.engines.connection("identity", "identity_system") as connection:
        found = await connection.fetchval(
            "SELECT 1 FROM identity.membership WHERE organization_id = $1", organization_id
        )
    return found is not None


async def _session(host: Host, owner: identity.Person) -> SignedIn:
    work = identity.working(host, user_id=owner.user_id)
    signed_in = await sessions.start(work, owner.user_id, methods=["password"])
    await work.finish()
    return signed_in


@pytest.fixture
async def process(home: Path, folder: Path, seeded: None) -> AsyncIterator[ApiProcess]:
    api = ApiProcess(servers.up(home) | GENEROUS, folder)
    await asyncio.to_thread(api.start)
    yield api
    await asyncio.to_thread(api.kill)


async def test_every_answer_is_one_that_the_document_describes(
    process: ApiProcess, known: fuzzing.Known
) -> None:
    fuzzed = await asyncio.to_thread(fuzzing.fuzz, process.origin, known, examples=EXAMPLES)

    print(
        f"operations={fuzzed.operations} examples={fuzzed.examples} "
        f"failures={len(fuzzed.failures)} statuses={dict(sorted(fuzzed.statuses.items()))}"
    )
    print(*fuzzed.failures.values(), sep="\n\n")
    assert list(fuzzed.failures) == []
    # A refusal proves nothing where nobody is let in; these two want a secret that we sent.
    assert fuzzed.unreached == {"sign_in", "refresh"}


async def test_a_planted_lie_is_found(home: Path, folder: Path, known: fuzzing.Known) -> None:
    lying = ApiProcess(
        servers.up(home) | GENEROUS, folder, name="lying", app="tests.suites.planted_apps:lying"
    )
    await asyncio.to_thread(lying.start)
    try:
        fuzzed = await asyncio.to_thread(
            fuzzing.fuzz, lying.origin, known, examples=8, only="get_equipment".__eq__
        )
    finally:
        await asyncio.to_thread(lying.kill)

    label = "GET /v1/organizations/{organizationId}/equipment/{equipmentId}"
    assert {f"{label}: UndefinedStatusCode", f"{label}: JsonSchemaError"} <= set(fuzzed.failures)
