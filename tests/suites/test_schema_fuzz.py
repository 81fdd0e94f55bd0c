"""The OpenAPI document is true: whatever is sent, the answer is one that it describes."""

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from pathlib import Path
from uuid import UUID

import pytest

from tests.factories import held, identity
from tests.suites import calls, clocks, fuzzing
from tests.suites.calls.sending import is_staffs
from tests.suites.corpus import Corpus
from tests.suites.processes import ApiProcess
from tests.suites.rotation import rotation
from tests.suites.sizes import size
from thenga import topology
from thenga.domains.identity.permissions import PLATFORM_ROLES
from thenga.domains.organization.services.facts import Given
from thenga.domains.organization.services.organizations import organizations
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.http.document.operations import operations
from thenga.kernel.process.host import Host
from thenga.tooling.dev import servers

OPERATIONS = operations(topology.load(topology.DOMAINS))
WALKED = rotation().of(OPERATIONS)
EXAMPLES = size(check=20, prove=200)
CORPUS = (Corpus(), None)[size(0, 1)]
PLANTED = "get_equipment"
# It takes bytes that a provider has signed; tests/suites/test_callbacks.py sends those.
UNREACHABLE = {"receive_callback", "receive_channel_callback"}
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
    """A sandbox with its owner, and rightful calls of every operation there."""
    began = host.now()
    person = await identity.person(host)
    scope = Scope(actor=SYSTEM, user_id=person.user_id)
    work = Work(host, "organization", scope, Origin("fuzz", "fuzz", "fuzz"))
    founded = await organizations.create_organization(
        work,
        organization_type="enterprise",
        mode="sandbox",
        time_zone="Africa/Johannesburg",
        locale="en-ZA",
        profile={
            "legalName": Given("Mokoena Plant Hire"),
            "legalForm": Given("private_company"),
            "website": Given("https://mokoena.example"),
        },
    )
    await work.finish()
    async with clocks.running([MeshSide(host, topology.load(topology.DOMAINS))]):
        await clocks.until(lambda: _membership(host, founded.id))
        await clocks.until(lambda: _is_billed(host, founded.id))
    await held.granted(host, founded.id, held.SEATS, 10_000)
    membership_id = await _membership(host, founded.id)
    assert membership_id is not None
    founder = identity.Member(
        **vars(person), organization_id=founded.id, membership_id=membership_id
    )
    # Signing out can end all sessions of a person, so whoever does is a person of its own.
    spare = [await identity.person(host) for _ in range(EXAMPLES + 20)]
    staff = await identity.staff(host, *PLATFORM_ROLES)
    rightful = {
        name: await _rightful(host, founder, name)
        for name in dict.fromkeys([*(one.name for one in WALKED), PLANTED])
    }
    await _keep_fresh(host, began)
    return fuzzing.Known(
        headers=founder.headers,
        organization_id=str(founded.id),
        rightful=rightful,
        spare_tokens=itertools.cycle([one.token for one in spare]),
        staff=staff.headers,
        staffs=frozenset(one.name for one in OPERATIONS if is_staffs(one)),
        strangers=[str((await identity.person(host)).user_id) for _ in range(5)],
    )


async def _keep_fresh(host: Host, since: datetime) -> None:
    """A walk may take longer than the five minutes for which a proof is fresh."""
    async with host.engines.connection("identity", "identity_system") as connection:
        await connection.execute(
            "UPDATE identity.session SET proven_at = proven_at + interval '12 hours' "
            "WHERE proven_at >= $1",
            since,
        )


async def _rightful(host: Host, founder: identity.Member, name: str) -> list[fuzzing.Rightful]:
    """Some calls of an operation, for what is used up by a call."""
    made = []
    for _ in range(2):
        sent = await calls.MAKERS[name](host, founder, founder.organization_id)
        named = calls.parameters(name, sent.ids, sent.parts)
        made.append(fuzzing.Rightful(named, sent.body(sent.ids), sent.headers))
    return made


async def _membership(host: Host, organization_id: UUID) -> UUID | None:
    """Identity was told of the organization and has made its founder the owner."""
    async with host.engines.connection("identity", "identity_system") as connection:
        found: UUID | None = await connection.fetchval(
            "SELECT id FROM identity.membership WHERE organization_id = $1", organization_id
        )
    return found


async def _is_billed(host: Host, organization_id: UUID) -> bool:
    """Billing was told as well, and has opened its account."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetchval(
            "SELECT 1 FROM billing.account WHERE organization_id = $1", organization_id
        )
    return found is not None


@pytest.fixture
async def process(home: Path, folder: Path, seeded: None) -> AsyncIterator[ApiProcess]:
    api = ApiProcess(servers.up(home) | GENEROUS, folder)
    await asyncio.to_thread(api.start)
    yield api
    await asyncio.to_thread(api.kill)


async def test_every_answer_is_one_that_the_document_describes(
    process: ApiProcess, known: fuzzing.Known, record_property: Callable[[str, object], None]
) -> None:
    rotation().count(record_property, OPERATIONS)
    names = {one.name for one in WALKED}
    fuzzed = await asyncio.to_thread(
        fuzzing.fuzz,
        process.origin,
        known,
        examples=EXAMPLES,
        only=names.__contains__,
        corpus=CORPUS,
    )

    print(
        f"{rotation().summary(OPERATIONS)} replayed={fuzzed.replayed} "
        f"drawn={fuzzed.operations - fuzzed.replayed} examples={fuzzed.examples} "
        f"failures={len(fuzzed.failures)} statuses={dict(sorted(fuzzed.statuses.items()))}"
    )
    print(*fuzzed.failures.values(), sep="\n\n")
    assert list(fuzzed.failures) == []
    # A refusal proves nothing where nobody is let in.
    print(f"unreached={len(fuzzed.unreached)} {sorted(fuzzed.unreached)}")
    assert fuzzed.operations == len(WALKED)
    assert fuzzed.unreached == UNREACHABLE & names


async def test_a_planted_lie_is_found(home: Path, folder: Path, known: fuzzing.Known) -> None:
    lying = ApiProcess(
        servers.up(home) | GENEROUS, folder, name="lying", app="tests.suites.planted_apps:lying"
    )
    await asyncio.to_thread(lying.start)
    try:
        fuzzed = await asyncio.to_thread(
            fuzzing.fuzz, lying.origin, known, examples=8, only=PLANTED.__eq__, corpus=CORPUS
        )
    finally:
        await asyncio.to_thread(lying.kill)

    label = "GET /v1/organizations/{organizationId}/equipment/{equipmentId}"
    assert {f"{label}: UndefinedStatusCode", f"{label}: JsonSchemaError"} <= set(fuzzed.failures)
