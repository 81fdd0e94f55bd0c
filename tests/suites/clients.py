"""Clients that put load on a platform over HTTP, and remember what they were told was done."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

import httpx2

from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

MOVES = {  # what may be done next, and what it leads to
    "available": [("assign", "in_use"), ("maintain", "maintenance")],
    "in_use": [("release", "available")],
    "maintenance": [("return", "available")],
}
_FORGOTTEN = 0.1  # answers that are lost on their way to the client
_THINKING_SECONDS = 0.05  # leaves the machine room for those who start again
_PATIENCE_SECONDS = 300.0


class Unexpected(AssertionError):
    """An answer that is neither success nor a reason to try again."""


@dataclass
class Machine:
    """A machine as its only client knows it."""

    organization_id: UUID
    version: int
    quantity: int
    status: str


@dataclass
class Ledger:
    """Every write that was acknowledged."""

    organizations: dict[UUID, int] = field(default_factory=dict)  # with their versions
    machines: dict[UUID, Machine] = field(default_factory=dict)
    watched: set[UUID] = field(default_factory=set)  # machines that a job must tell of, once
    bought: dict[UUID, UUID] = field(default_factory=dict)  # the plan of an organization
    writes: int = 0
    retries: int = 0
    sent_again: int = 0  # things that were made, and made again with another key


class Caller:
    """One person who asks again until told that it is done."""

    def __init__(
        self,
        urls: Sequence[str],
        headers: dict[str, str],
        ledger: Ledger,
        chance: random.Random,
        *,
        one_key: bool = True,
    ) -> None:
        self._urls = urls
        self._headers = headers
        self.ledger = ledger
        self.chance = chance
        self._one_key = one_key  # without, each try looks like a new wish: the planted bug
        self._http = httpx2.AsyncClient(timeout=8, trust_env=False)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def found(self, mode: str) -> UUID:
        """Found an organization."""
        profile = {"legalName": f"Works {new_id()}", "legalForm": "private_company"}
        body = {"organizationType": "enterprise", "mode": mode, "profile": profile}
        made = UUID((await self.write("POST", "/organizations", body))["id"])
        self.ledger.organizations[made] = 1
        return made

    async def await_rights(self, home: UUID) -> None:
        """The founder is owner once the event has gone round."""
        await self.read(f"/organizations/{home}")

    async def move_clock(self, home: UUID, days: int) -> None:
        """Let time pass in a sandbox."""
        await self.write("POST", f"/organizations/{home}/clock", {"forwardDays": days})
        self.ledger.organizations[home] += 1

    async def read(self, path: str, *, within: UUID | None = None) -> dict[str, Any]:
        """Ask until an answer comes through."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                found = await self._try("GET", path, None, _naming(within))
                if found is not None:
                    return found
                await asyncio.sleep(0.1)

    async def write(
        self, method: str, path: str, body: Any, *, within: UUID | None = None
    ) -> dict[str, Any]:
        """Try until an answer comes through that says it is done."""
        key = new_id()
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                key = key if self._one_key else new_id()
                headers = _naming(within) | {"Idempotency-Key": str(key)}
                done = await self._try(method, path, body, headers)
                if done is not None and not self._forgets(method, path):
                    self.ledger.writes += 1
                    return done
                self.ledger.retries += 1
                await asyncio.sleep(self.chance.uniform(0.02, 0.2))

    def _forgets(self, method: str, path: str) -> bool:
        """Whether the answer is lost on its way.

        With another key each time only what makes something: a second move would be refused.
        """
        makes = method == "POST" and path.endswith(("/organizations", "/equipment"))
        forgotten = (self._one_key or makes) and self.chance.random() < _FORGOTTEN
        self.ledger.sent_again += forgotten and not self._one_key
        return forgotten

    async def _try(
        self, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> dict[str, Any] | None:
        url = self.chance.choice(self._urls) + path
        try:
            answer = await self._http.request(
                method, url, json=body, headers=self._headers | headers
            )
        except httpx2.TransportError:
            return None
        told: dict[str, Any] = answer.json()
        if answer.is_success:
            return told
        again = answer.status_code >= 500 or told["code"] == "idempotency-in-progress"
        if again or (method == "GET" and answer.status_code in (403, 404)):
            return None
        raise Unexpected(f"{method} {path} → {answer.status_code} {answer.text}")


def _naming(organization_id: UUID | None) -> dict[str, str]:
    return {} if organization_id is None else {"X-Organization-Id": str(organization_id)}


class Client:
    """One person at one machine after another."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._ledger, self._chance = caller.ledger, caller.chance
        self._mine: list[UUID] = []

    async def run(self, stop: asyncio.Event) -> None:
        """Found a sandbox with a machine that time will move, then work until stopped."""
        async with self._caller:
            home = await self._let_time_pass()
            while not stop.is_set():
                await self._something(home)
                await asyncio.sleep(_THINKING_SECONDS)

    async def _something(self, home: UUID) -> None:
        dice = self._chance.random()
        if dice < 0.02:
            await self._let_time_pass()
        elif dice < 0.1:
            await self._caller.found("live")
        elif dice < 0.4 or not self._mine:
            self._mine.append(await self._add(home))
        elif dice < 0.7:
            await self._change(self._chance.choice(self._mine))
        else:
            await self._move(self._chance.choice(self._mine))

    async def _let_time_pass(self) -> UUID:
        """A sandbox and a machine whose certificate has one step left; its clock passes it."""
        home = await self._caller.found("sandbox")
        day = local_day(datetime.now(UTC)) + timedelta(days=3)  # as the processes reckon it
        expiries = [{"kind": "inspection", "expiresOn": day.isoformat()}]
        await self._caller.await_rights(home)
        watched = await self._add(home, expiries=expiries)
        self._ledger.watched.add(watched)
        await self._caller.move_clock(home, 10)
        return home

    async def _add(self, home: UUID, **more: Any) -> UUID:
        body = {"name": f"Machine {new_id()}", "quantity": 1, **more}
        made = await self._caller.write("POST", f"/organizations/{home}/equipment", body)
        key = UUID(made["id"])
        self._ledger.machines[key] = Machine(home, 1, 1, "available")
        return key

    async def _change(self, key: UUID) -> None:
        machine = self._ledger.machines[key]
        body = {"quantity": machine.quantity + 1}
        await self._caller.write("PATCH", _path(machine, key), body)
        machine.quantity += 1
        machine.version += 1

    async def _move(self, key: UUID) -> None:
        machine = self._ledger.machines[key]
        verb, status = self._chance.choice(MOVES[machine.status])
        await self._caller.write("POST", f"{_path(machine, key)}/{verb}", None)
        machine.status = status
        machine.version += 1


def _path(machine: Machine, key: UUID) -> str:
    return f"/organizations/{machine.organization_id}/equipment/{key}"
