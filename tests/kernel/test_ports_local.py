"""Ports answered in this process: every domain's act as a service, in the organization's time."""

import ast
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from tests.planting import plant
from thenga.domains.billing import public as billing
from thenga.domains.identity import public as identity
from thenga.domains.organization import public as organization
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db import sandbox
from thenga.kernel.declare.port import Port
from thenga.kernel.ports import local
from thenga.kernel.ports.local import Answering
from thenga.kernel.ports.remote import CallContext, calling
from thenga.kernel.process.host import Host

PROVIDERS = sorted(Path(local.__file__).parents[2].glob("domains/*/provider.py"))
ASKED: list[type[Port]] = [billing.Usage, identity.Memberships, organization.Suggestions]


@pytest.mark.parametrize("port", ASKED, ids=lambda port: port.port_name)
async def test_who_asks_by_a_port_reads_and_writes_as_a_service(
    host: Host, port: type[Port]
) -> None:
    token = calling.set(CallContext("bid", "request 7", "trace 7"))
    answering, somewhere = Answering(host, port), uuid4()
    try:
        async with answering.reading(somewhere) as read, answering.working(somewhere) as work:
            seen = [(one.held_as, one.actor.kind, one.organization_id) for one in (read, work)]
            origins = [read.origin, work.origin]
            same = read.actor.id == work.actor.id
    finally:
        calling.reset(token)

    assert seen == [(HeldAs.SERVICE, ActorKind.SERVICE, somewhere)] * 2
    assert same
    told = {(one.action, one.request_id, one.traceparent) for one in origins}
    assert told == {(port.port_name, "request 7", "trace 7")}


async def test_port_call_is_audited_as_the_original_person(
    host: Host,
) -> None:
    person = uuid4()
    async with Answering(host, identity.Memberships).working(uuid4(), requested_by=person) as work:
        seen = (work.held_as, work.actor.kind, work.actor.id, work.user_id)

    assert seen == (HeldAs.SERVICE, ActorKind.USER, person, person)


async def _hours_ahead(host: Host, organization_id: UUID) -> list[int]:
    answering, base = Answering(host, billing.Usage), host.now()
    async with answering.reading(organization_id) as read:
        reading = read.now
    async with answering.working(organization_id) as work:
        working = work.now
    return [round((at - base) / timedelta(hours=1)) for at in (reading, working)]


async def test_port_answers_in_the_time_of_the_sandbox(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    somewhere, elsewhere = uuid4(), uuid4()
    async with host.engines.connection("billing", "billing_system") as connection:
        await connection.execute(
            "INSERT INTO billing.clock_offset (organization_id, ahead, sequence)"
            " VALUES ($1, $2, 1)",
            somewhere,
            timedelta(hours=30),
        )

    assert await _hours_ahead(host, somewhere) == [30, 30]
    assert await _hours_ahead(host, elsewhere) == [0, 0]

    async def base_clock(*_: object) -> timedelta:
        return sandbox.NO_OFFSET

    plant(monkeypatch, sandbox, "clock_offset_within", base_clock)
    assert await _hours_ahead(host, somewhere) == [0, 0]


def opened_by_hand(text: str) -> set[str]:
    """Units of work that a module makes itself."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    named = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    return named & {"Reader", "Work", "Scope", "Actor"}


def test_no_domain_opens_the_units_of_work_of_its_ports_itself() -> None:
    assert len(PROVIDERS) >= 3
    assert {path.parent.name: opened_by_hand(path.read_text()) for path in PROVIDERS} == {
        path.parent.name: set() for path in PROVIDERS
    }
    assert opened_by_hand("work = Work(host, 'billing', Scope(actor=SYSTEM), origin)") == {
        "Work",
        "Scope",
    }
