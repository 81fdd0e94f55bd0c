"""Nobody sees or changes what is another tenant's, by any operation or identifier."""

import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
import structlog
from fastapi import FastAPI

from tests.factories import facts
from tests.set_clock import SetClock
from tests.suites import actors, calls
from tests.suites.actors import Actor, Tenant
from tests.suites.apart import database_apart
from tests.suites.matrix import BODIES, FOREIGN, NONE, OWN, RANDOM, Matrix, Tally, content_of
from tests.suites.rotation import rotation, within_domain
from tests.suites.sizes import size
from tests.suites.straight import Straight
from thenga import topology
from thenga.kernel.access.gate import Gate, HeldAs, Passage, Refusal
from thenga.kernel.db.migrate import Migrated
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.permission import Audience
from thenga.kernel.http.document.operations import operations
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.clock import SystemClock
from thenga.main import build
from thenga.starting import make_host

pytestmark = [pytest.mark.usefixtures("unchecked_views"), pytest.mark.no_retry]

DOMAINS = topology.load(topology.DOMAINS)
EVERY = operations(DOMAINS)
OPERATIONS = within_domain(EVERY)
WALKED = rotation().of(EVERY)
OWNED = [one for one in OPERATIONS if "{organizationId}" in one.path]
GRANTED = {granted.code: granted for domain in DOMAINS for granted in domain.permissions}
# What a planted walk goes over, about 30: what no member may, and of the rest some of everything.
STEP = max(1, len(OWNED) // size(30, 10_000))
SOME = [
    one
    for number, one in enumerate(OWNED)
    if number % STEP == 0 or Audience.TENANT not in GRANTED[one.permission or ""].audiences
]
HEADERS = ((NONE, FOREIGN), (NONE, OWN, FOREIGN, RANDOM))[size(0, 1)]
FORMS = BODIES[: size(1, 3)]
_PROTECTED = """
    SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1) AND c.relrowsecurity
"""
_FOREIGN_WRITES = """
    SELECT count(*) FROM {domain}.audit_entry, LATERAL (SELECT entry::jsonb) e(e)
    WHERE organization_id = $1 AND e ->> 'action' <> 'factory'
      AND e #>> '{{actor,kind}}' <> 'system' AND e #>> '{{actor,id}}' <> ALL ($2)
"""
_KEYS = "SELECT id FROM identity.api_key WHERE organization_id = $1"


@dataclasses.dataclass
class World:
    """Two tenants in a database of their own, and the application on it."""

    app: FastAPI
    admin: asyncpg.Connection
    matrix: Matrix
    actors: list[Actor]
    marked: int

    @property
    def alive(self) -> list[Actor]:
        return [actor for actor in self.actors if actor.lives]

    async def walk(self, among: Sequence[Actor]) -> Tally:
        return await self.matrix.walk(WALKED, among, headers=HEADERS, bodies=FORMS)

    async def walk_open(self, *, judged: bool = True) -> Tally:
        """With one of the two defences away. A header that names another tenant is refused before
        the database is asked, and the gate that is open does not look at it."""
        among, headers = (self.alive, self.actors)[size(0, 1)], HEADERS[: size(1, 4)]
        return await self.matrix.walk(WALKED, among, headers=headers, bodies=FORMS, judged=judged)

    async def walk_tenants(self) -> Tally:
        """Who is alive, on all that a tenant owns, in turns as the others: for what asserts that
        nothing is found."""
        owned = [one for one in WALKED if one in OWNED]
        return await self.matrix.walk(owned, self.alive, headers=(NONE,), bodies=FORMS[:1])

    async def walk_some(self) -> Tally:
        """As small as a planted bug needs, of which one finding is enough."""
        return await self.matrix.walk(SOME, self.alive, headers=(NONE,), bodies=FORMS[:1])

    async def foreign_writes(self) -> int:
        """Changes of a tenant's rows that somebody else made, by the audit rows themselves."""
        found = 0
        # Whoever has a platform role is let into any tenant, as the makers of staff's calls are.
        roles = "SELECT DISTINCT user_id FROM identity.platform_role_assignment"
        staff = [row[0] for row in await self.admin.fetch(roles)]
        for domain in topology.DOMAINS:
            for tenant in self.matrix.tenants:
                own = await self.admin.fetch(_KEYS, tenant.organization_id)
                keys = [row[0] for row in own]  # what a key of the tenant reads can be told too
                people = [str(one) for one in (*tenant.people, *staff, *keys)]
                text = _FOREIGN_WRITES.format(domain=domain)
                found += await self.admin.fetchval(text, tenant.organization_id, people)
        return found


@pytest.fixture(scope="module")
def alone(settings: Settings) -> Iterator[Settings]:
    targets = [Migrated(d.name, d.migrations, d.gate) for d in DOMAINS]
    unlimited = {
        "actor_per_minute": 10_000_000,
        "auth_address_per_minute": 10_000_000,
        "auth_account_per_minute": 10_000_000,
        "hashes_per_second": 10_000_000,
    }
    with database_apart(settings, "thenga_matrix", targets) as made:
        yield made.model_copy(update=unlimited)


@pytest.fixture(scope="module")
def quiet() -> Iterator[None]:
    """No line for each request: a walk makes hundreds of thousands."""
    usual = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    yield
    structlog.configure(**usual)


@pytest.fixture(scope="module")
async def world(alone: Settings, quiet: None) -> AsyncIterator[World]:
    # The matrix asks who may, not for how long: a walk takes longer than an access token lives.
    host = make_host(alone, clock=SetClock(SystemClock().now()))
    for domain in DOMAINS:
        if domain.at_deployment is not None:
            await domain.at_deployment(host, DOMAINS)
    await facts.without_bounds(host)
    app = build(alone, host)
    first, second = await actors.tenant(host), await actors.tenant(host)
    everybody = await actors.actors(host, first, second)
    admin = await asyncpg.connect(alone.admin_database.get_secret_value())
    matrix = Matrix(Straight(app), host, [first, second], GRANTED, small=bool(size(1, 0)))
    marked = await matrix.prepare(OPERATIONS, admin)
    yield World(app, admin, matrix, everybody, marked)
    await admin.close()
    await host.close()


class Unguarded(Gate):
    """Knows who calls and lets them do everything, in their own tenant: authorization is off."""

    def __init__(self, inner: Gate, tenants: Sequence[Tenant]) -> None:
        self._inner = inner
        self._home = {one: t.organization_id for t in tenants for one in t.people}

    async def enter(
        self,
        *,
        credential: str | None,
        organization_id: UUID | None,
        permission: str,
        network: str,
        request_id: str,
    ) -> Passage | Refusal:
        known = await self._inner.enter(
            credential=credential,
            organization_id=None,
            permission="identity:session:read",
            network=network,
            request_id=request_id,
        )
        if isinstance(known, Refusal) or Audience.TENANT not in GRANTED[permission].audiences:
            return known
        assert known.user_id is not None
        return self._into(known, self._home.get(known.user_id, uuid4()))

    def _into(self, known: Passage, organization_id: UUID) -> Passage:
        return Passage(
            actor=known.actor,
            organization_id=organization_id,
            user_id=known.user_id,
            held_as=HeldAs.TENANT,
            policy_version=known.policy_version,
        )


@contextmanager
def without_authorization(world: World) -> Iterator[None]:
    shared = world.app.state.shared
    gate = Unguarded(shared.gate, world.matrix.tenants)
    world.app.state.shared = dataclasses.replace(shared, gate=gate)
    try:
        yield
    finally:
        world.app.state.shared = shared


@asynccontextmanager
async def without_row_security(world: World) -> AsyncIterator[None]:
    tables = [row[0] for row in await world.admin.fetch(_PROTECTED, topology.DOMAINS)]
    assert tables
    for table in tables:
        await world.admin.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    try:
        yield
    finally:
        for table in tables:
            await world.admin.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


async def test_every_operation_works_for_its_rightful_caller(world: World) -> None:
    assert calls.uncovered(EVERY) == set()
    owner = world.matrix.tenants[0].owner
    answers = {}
    for operation in OPERATIONS:
        make = calls.MAKERS[operation.name]
        sent = await make(world.matrix.host, owner, owner.organization_id)
        answers[operation.name] = await world.matrix.client.request(
            operation.method,
            calls.path_of(operation, sent.ids, sent.parts),
            headers=owner.headers | sent.headers,
            content=content_of(sent.body(sent.ids)),
        )

    refused = {name: answer.text for name, answer in answers.items() if answer.status_code >= 400}
    print(f"positives={len(answers) - len(refused)} operations={len(OPERATIONS)}")
    assert refused == {}


async def test_nobody_sees_another_tenant(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    rotation().count(record_property, EVERY)
    by_staff = await world.foreign_writes()  # what staff rightfully did in the test before
    guarded = await world.walk(world.actors)
    print(f"guarded: {guarded}")
    async with without_row_security(world):
        unprotected = await world.walk_open()
    print(f"without_row_security: {unprotected}")
    with without_authorization(world):
        unauthorized = await world.walk_open(judged=False)
    print(f"without_authorization: {unauthorized}")

    writes = await world.foreign_writes() - by_staff
    runs = [guarded, unprotected, unauthorized]
    print(
        f"{rotation().summary(EVERY)} actors={len(world.actors)} "
        f"requests={sum(run.requests for run in runs)} leaks={len(guarded.leaks)} "
        f"leaks_without_row_security={len(unprotected.leaks)} "
        f"leaks_without_authorization={len(unauthorized.leaks)} "
        f"oracles={sum(len(run.oracles) for run in runs)} foreign_writes={writes} "
        f"wrong_status={sum(len(run.wrong) for run in runs)} "
        f"server_errors={sum(len(run.broken) for run in runs)} marked_columns={world.marked}"
    )
    faults = [
        fault for run in runs for fault in [*run.leaks, *run.oracles, *run.wrong, *run.broken]
    ]
    print(*faults[:20], sep="\n")
    assert faults == []
    assert writes == 0
    assert world.marked >= (15 if len(OPERATIONS) == len(EVERY) else 1)  # one domain has fewer


async def test_a_planted_reader_without_its_filter_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Reader, "_key_of", lambda _self, _row, id: {"id": id})  # noqa: A006
    monkeypatch.setattr(Reader, "_limited", lambda _self, _row, statement: statement)

    held_by_row_security = await world.walk_tenants()
    async with without_row_security(world):
        open_to_all = await world.walk_some()

    print(
        f"planted: leaks_without_filter={len(held_by_row_security.leaks)} "
        f"leaks_without_both={len(open_to_all.leaks)}"
    )
    assert held_by_row_security.leaks == []
    assert len(open_to_all.leaks) > 0


async def test_a_planted_service_that_trusts_the_gate_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who acts for no organization asks for what is an organization's, and nobody stops them."""

    def trusting(read: Reader) -> UUID:
        found = read._scope.organization_id
        assert found is not None
        return found

    with without_authorization(world):
        held = await world.walk_tenants()
        monkeypatch.setattr(Reader, "organization_id", property(trusting))
        trusted = await world.walk_some()

    print(f"planted: server_errors={len(held.broken)} when_trusted={len(trusted.broken)}")
    assert held.broken == []
    assert len(trusted.broken) > 0


async def test_a_planted_right_for_everybody_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate that lets a caller into whatever tenant is asked for."""

    class Wide(Unguarded):
        async def enter(self, **asked: Any) -> Passage | Refusal:
            known = await super().enter(**asked)
            if isinstance(known, Passage) and known.held_as is HeldAs.TENANT:
                return self._into(known, asked["organization_id"])
            return known

    shared = world.app.state.shared
    gate = Wide(shared.gate, world.matrix.tenants)
    monkeypatch.setattr(world.app.state, "shared", dataclasses.replace(shared, gate=gate))

    found = await world.walk_some()

    print(f"planted: leaks_with_a_wide_gate={len(found.leaks)}")
    assert len(found.leaks) > 0
    assert found.wrong
