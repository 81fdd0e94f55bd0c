"""Suites print figures; the line of each of ten thousand requests would hide them."""

import logging
from collections.abc import Iterator

import pytest
import structlog

from thenga.kernel.http import bodies


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
