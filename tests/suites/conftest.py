"""Suites print figures; the line of each of ten thousand requests would hide them."""

import logging
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest
import structlog

from thenga.kernel.http import bodies
from thenga.kernel.process.settings import Settings


@pytest.fixture(scope="package", autouse=True)
def quiet() -> Iterator[None]:
    before = structlog.get_config()
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(
        processors=[plain],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    )
    yield
    structlog.configure(**before)


@pytest.fixture
def unchecked_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """For suites that fill rows with canaries, which no view would take."""
    monkeypatch.setattr(bodies, "_check", lambda _: None)


@pytest.fixture
async def admin(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    """The administrator's connection, in a transaction that is undone."""
    connection = await asyncpg.connect(settings.admin_database.get_secret_value())
    undone = connection.transaction()
    await undone.start()
    yield connection
    await undone.rollback()
    await connection.close()
