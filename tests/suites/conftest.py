"""Suites print figures; the line of each of ten thousand requests would hide them."""

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(scope="package", autouse=True)
def quiet() -> Iterator[None]:
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    yield
    structlog.configure(**before)
