"""Clients that put load on a platform over HTTP, and remember what they were told was done."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import httpx2

from thenga.kernel.ids import new_id

MOVES = {  # what may be done next, and what it leads to
    "available": [("assign", "in_use"), ("maintain", "maintenance")],
    "in_use": [("release", "available")],
    "maintenance": [("return", "available")],
}
_FORGOTTEN = 0.1  # answers that are lost on their way to the client
_THINKING_SECONDS = 0.05  # leaves the machine room for those who start again
_PATIENCE_SECONDS = 90.0


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
    writes: int = 0
    retries: int = 0


class Client:
    """One person at one machine after another; retries until told that it is done."""

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
        self._ledger = ledger
        self._chance = chance
        self._one_key = one_key  # without, each try looks like a new wish: the planted bug
        self._http = httpx2.AsyncClient(timeout=8, trust_env=False)
        self._mine: list[UUID] = []

    async def run(self, stop: asyncio.Event) -> None:
        """Found a sandbox with a machine that time will move, then work until stopped."""
        async with self._http:
            home = await self._let_time_pass()
            while not stop.is_set():
                await self._something(home)
                await asyncio.sleep(_THINKING_SECONDS)

    async def _something(self, home: UUID) -> None:
        dice = self._chance.random()
        if dice < 0.02:
            await self._let_time_pass()
        elif dice < 0.1:
            await self._found("live")
        elif dice < 0.4 or not self._mine:
            self._mine.append(await self._add(home))
        elif dice < 0.7:
            await self._change(self._chance.choice(self._mine))
        else:
            await self._move(self._chance.choice(self._mine))

    async def _found(self, mode: str) -> UUID:
        profile = {"legalName": f"Works {new_id()}", "legalForm": "private_company"}
        body = {"organizationType": "enterprise", "mode": mode, "profile": profile}
        made = UUID((await self._write("POST", "/organizations", body))["id"])
        self._ledger.organizations[made] = 1
        return made

    async def _let_time_pass(self) -> UUID:
        """A sandbox and a machine whose certificate has one step left; its clock passes it."""
        home = await self._found("sandbox")
        day = date.today() + timedelta(days=3)  # noqa: DTZ011  # any day soon will do
        expiries = [{"kind": "inspection", "expiresOn": day.isoformat()}]
        await self._await_rights(home)
        watched = await self._add(home, expiries=expiries)
        self._ledger.watched.add(watched)
        await self._write("POST", f"/organizations/{home}/clock", {"forwardDays": 10})
        self._ledger.organizations[home] += 1
        return home

    async def _await_rights(self, home: UUID) -> None:
        """The founder is owner once the event has gone round."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                if await self._try("GET", f"/organizations/{home}", None, {}) is not None:
                    return
                await asyncio.sleep(0.1)

    async def _add(self, home: UUID, **more: Any) -> UUID:
        body = {"name": f"Machine {new_id()}", "quantity": 1, **more}
        made = await self._write("POST", f"/organizations/{home}/equipment", body)
        key = UUID(made["id"])
        self._ledger.machines[key] = Machine(home, 1, 1, "available")
        return key

    async def _change(self, key: UUID) -> None:
        machine = self._ledger.machines[key]
        body = {"quantity": machine.quantity + 1}
        await self._write("PATCH", _path(machine, key), body)
        machine.quantity += 1
        machine.version += 1

    async def _move(self, key: UUID) -> None:
        machine = self._ledger.machines[key]
        verb, status = self._chance.choice(MOVES[machine.status])
        await self._write("POST", f"{_path(machine, key)}/{verb}", None)
        machine.status = status
        machine.version += 1

    async def _write(self, method: str, path: str, body: Any) -> dict[str, Any]:
        """Try until an answer comes through that says it is done."""
        key = new_id()
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                key = key if self._one_key else new_id()
                done = await self._try(method, path, body, {"Idempotency-Key": str(key)})
                if done is not None and self._chance.random() >= _FORGOTTEN:
                    self._ledger.writes += 1
                    return done
                self._ledger.retries += 1
                await asyncio.sleep(self._chance.uniform(0.02, 0.2))

    async def _try(
        self, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> dict[str, Any] | None:
        url = self._chance.choice(self._urls) + path
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


def _path(machine: Machine, key: UUID) -> str:
    return f"/organizations/{machine.organization_id}/equipment/{key}"
