"""A company that bids, and other domains that are silent when a test needs them so."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI

from tests.factories import bid as factory
from tests.factories.identity import Member
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.host import Host
from thenga.kernel.ports.binding import stand_in

Silence = Callable[[type[Port]], None]


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await factory.company(host)


@pytest.fixture
def bound(app: FastAPI) -> Host:
    """The host of the application, on which every port is answered."""
    made: Host = app.state.shared.host
    return made


@pytest.fixture
def silence(bound: Host, monkeypatch: pytest.MonkeyPatch) -> Silence:
    """Let a port answer nothing."""

    def quiet(port: type[Port]) -> None:
        async def ask(shape: Any, arguments: dict[str, object]) -> object:
            raise DependencyUnavailable(dependency=port.port_name)

        monkeypatch.setitem(bound.bindings._bound, port, stand_in(port, ask))

    return quiet
