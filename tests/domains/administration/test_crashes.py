"""A process that dies at any statement leaves an effect with its action and event, or nothing."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from fastapi import FastAPI

from tests.domains.administration.crashing import Crash, Faults
from tests.domains.administration.working import Worker
from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories import support as cases
from tests.planting import plant
from tests.suites.sizes import size
from thenga.domains.administration.services.actions import recording
from thenga.domains.administration.tables import (
    AdminAction,
    ConfigurationVersion,
    IntegrationSecret,
    PolicyConfiguration,
    PolicyStatus,
    SupportCase,
)
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

WHY = {"reason": "Agreed in the change meeting"}
CONFIGURATION = "/administration/configuration"
POLICIES = "/administration/policy-configurations"
INTEGRATIONS = "/administration/integration-configurations"
KILLS = size(check=10, prove=200)  # at least; every statement of each operation is a point


@pytest.fixture
async def admin(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(settings.admin_database.get_secret_value())
    yield connection
    await connection.close()


@pytest.fixture
async def raw(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that gets the 500 of a process that dies."""
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://thenga.test/v1") as made:
        yield made


class Counted:
    """What one operation has left behind: effects, actions and events."""

    def __init__(self, host: Host, admin: asyncpg.Connection) -> None:
        self._host, self._admin = host, admin
        self.effects = self.actions = self.events = self.gaps = 0

    async def add(
        self, resource_id: UUID, effects: int, *, kind: str, permission: str, done: bool
    ) -> None:
        acts = await made.rows(self._host, AdminAction, resource_id=resource_id, action=permission)
        events = await self._admin.fetchval(
            "SELECT count(*) FROM administration.outbox WHERE aggregate = $1",
            f"{kind}/{resource_id}",
        )
        self.gaps += not (effects == len(acts) == events and (not done or effects == 1))
        if done:
            self.effects += effects
            self.actions += len(acts)
            self.events += events


Step = Callable[[], Awaitable[bool]]


async def until_done(faults: Faults, step: Step, check: Callable[[bool], Awaitable[None]]) -> bool:
    """Let a step die at a statement, then repeat it; whether it died."""
    before = faults.kills
    await step()
    await check(False)
    faults.left = None
    await step()
    await check(True)
    return faults.kills > before


@pytest.fixture
async def crash(
    raw: httpx2.AsyncClient, host: Host, admin: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Awaitable[tuple[Faults, Counted]]]:
    """Dies at every statement of an approval, a new secret and a resolved case."""

    async def run() -> tuple[Faults, Counted]:
        operator = await people.staff(host, "platform_operator")
        faults, counted = Faults(monkeypatch), Counted(host, admin)

        async def die_at(point: int, make: Any) -> bool:
            method, path, body, checking = await make(host)
            headers = operator.headers | {"Idempotency-Key": uuid4().hex, "If-Match": '"1"'}

            async def step() -> bool:
                answer = await raw.request(method, path, json=body | WHY, headers=headers)
                return answer.is_success

            async def check(done: bool) -> None:
                await checking(counted, done)

            faults.left = point
            return await until_done(faults, step, check)

        while faults.kills < KILLS:
            for make in (_approval, _secret, _resolution):
                point = 0
                while await die_at(point, make):
                    point += 1
        return faults, counted

    return run


async def _approval(host: Host) -> Any:
    version = await made.version(host, key=await made.declare(host))

    async def check(counted: Counted, done: bool) -> None:
        (found,) = await made.rows(host, ConfigurationVersion, id=version.id)
        await counted.add(
            version.id,
            int(found.status == "approved"),
            kind="config",
            permission="administration:configuration:approve",
            done=done,
        )

    return "POST", f"{CONFIGURATION}/{version.id}/approve", {}, check


async def _secret(host: Host) -> Any:
    integration = await made.integration(host)

    async def check(counted: Counted, done: bool) -> None:
        found = await made.rows(host, IntegrationSecret, integration_id=integration.id)
        await counted.add(
            integration.id,
            max(one.secret_version for one in found) - 1,
            kind="integration",
            permission="administration:integration_configuration:set_secret",
            done=done,
        )

    path = f"{INTEGRATIONS}/{integration.id}/secrets/password"
    return "PUT", path, {"value": uuid4().hex}, check


async def _resolution(host: Host) -> Any:
    case = await cases.standing_case(host, uuid4(), uuid4())

    async def check(counted: Counted, done: bool) -> None:
        (found,) = await made.rows(host, SupportCase, id=case.id)
        await counted.add(
            case.id,
            int(found.status == "resolved"),
            kind="case",
            permission="administration:support_case:resolve",
            done=done,
        )

    return "POST", f"{cases.PATH}/{case.id}/resolve", {"code": "spam", "text": "Spam."}, check


async def test_a_call_that_dies_is_done_wholly_or_not(
    crash: Callable[[], Awaitable[tuple[Faults, Counted]]],
):
    faults, counted = await crash()

    print(
        f"kills={faults.kills} effects={counted.effects} actions={counted.actions} "
        f"events={counted.events} gaps={counted.gaps}"
    )
    assert counted.gaps == 0 and faults.kills >= KILLS
    assert counted.effects == counted.actions == counted.events


async def test_planted_action_that_is_not_recorded_is_found(
    crash: Callable[[], Awaitable[tuple[Faults, Counted]]], monkeypatch: pytest.MonkeyPatch
):
    async def forget(*_: Any, **__: Any) -> None: ...

    plant(monkeypatch, recording, "record", forget)

    _, counted = await crash()

    assert counted.gaps > 0


async def test_a_publication_that_dies_is_published_once(
    host: Host, worker: Worker, admin: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    approver = await people.staff(host, "platform_policy_approver")
    faults, gaps, done = Faults(monkeypatch), 0, 0
    while faults.kills == done:
        policy = await made.policy(
            host,
            status=PolicyStatus.APPROVED,
            approved_by=approver.user_id,
            approved_at=host.now(),
            due_at=host.now(),
            key=f"billing.k{uuid4().hex}",
        )
        faults.left = 4 + done  # the sweep's own statements come first
        with suppress(Crash):
            await worker.sweep()
        faults.left = None
        await worker.sweep()
        (found,) = await made.rows(host, PolicyConfiguration, id=policy.id)
        events = await admin.fetchval(
            "SELECT count(*) FROM administration.outbox WHERE aggregate = $1",
            f"config/{policy.id}",
        )
        gaps += (found.status, events, found.publish_attempts) != (PolicyStatus.PUBLISHED, 1, 1)
        done += 1

    print(f"kills={faults.kills} effects={done} events={done} gaps={gaps}")
    assert gaps == 0 and faults.kills >= 3
