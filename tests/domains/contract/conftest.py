"""A company with contracts, and other domains that answer what a test says, or nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from tests.conftest import Time
from tests.domains.contract.deals import Deal, Desk, deal
from tests.domains.contract.sites import Site
from tests.factories.identity import member
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.ports.binding import stand_in
from thenga.kernel.process.host import Host

Play = Callable[[type[Port], Callable[..., object] | None], None]


@pytest.fixture
def site(api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None) -> Site:
    """A company without a contract."""
    made = Site(api, host, clock)
    made.at("2026-11-16")
    return made


@pytest.fixture
async def e(api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None) -> Deal:
    """Contract E, in force with all milestones met."""
    return await deal(api, host, clock)


@pytest.fixture
async def desk(e: Deal) -> Desk:
    return Desk(e, await member(e.host, e.id, role="owner"))


@pytest.fixture
async def done(api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None) -> Deal:
    """Contract E, invoiced and paid to the last cent."""
    made = await deal(api, host, clock)
    claims = [(await made.claim("advance", "483000.00")).json()]
    for claim in (
        {"M1": "966000.00"},
        {"M2": "1690500.00"},
        {"M3": "1207500.00"},
        {"M4": "966000.00"},
    ):
        claims.append(await made.invoice(**claim))
    await made.at(datetime(2027, 2, 1, 8, tzinfo=UTC))
    for _ in range(2):
        claims.append((await made.claim("retention_release", "120750.00")).json())
    for invoice in claims:
        assert (await made.pay(invoice, invoice["payable"]["amount"])).status_code == 201
    return made


@pytest.fixture
def play(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Let a port answer what a function says, or nothing at all."""

    def bind(port: type[Port], answer: Callable[..., object] | None) -> None:
        async def ask(shape: Any, arguments: dict[str, object]) -> object:
            if answer is None:
                raise DependencyUnavailable(dependency=port.port_name)
            return answer(**arguments)

        bound = app.state.shared.host.bindings._bound
        monkeypatch.setitem(bound, port, stand_in(port, ask))

    return bind
