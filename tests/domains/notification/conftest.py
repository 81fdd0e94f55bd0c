"""Providers of messages on loopback, and an organization whose messages they carry."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.conftest import Time
from tests.factories.notification_deliveries import NOON, Post
from tests.providers.messaging import MailServer, TwilioServer

from thenga.kernel.process.host import Host


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TwilioServer]:
    server = TwilioServer()
    async with server.running() as url:
        monkeypatch.setenv("THENGA_TWILIO_URL_NOTIFICATION", url)
        yield server


@pytest.fixture
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    with MailServer(tmp_path) as server:
        monkeypatch.setenv("THENGA_SMTP_PORT_NOTIFICATION", str(server.port))
        monkeypatch.setenv("THENGA_SMTP_CA_NOTIFICATION", server.ca_file)
        yield server


@pytest.fixture
def post(host: Host, seeded: None, clock: Time) -> Post:
    clock.set(NOON)
    return Post(host, clock)
