"""Lines of the process: their form, and what never stands in them."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from thenga.kernel.process import logs

CANARY = "canary-8812"


@pytest.fixture
def lines() -> Iterator[io.BytesIO]:
    """What the process would write; logging is put back as it was."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stream = io.BytesIO()
    logs.configure(True, stream=stream)
    yield stream
    root.handlers, root.level = before, level
    structlog.reset_defaults()


def read(lines: io.BytesIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def test_secrets_are_dropped_by_their_name_at_any_depth(lines: io.BytesIO) -> None:
    structlog.get_logger().info(
        "test.logs.written",
        password=CANARY,
        accessToken=CANARY,
        kept={"Set-Cookie": CANARY, "list": [{"client_secret": CANARY, "n": 1}]},
        plaintext=CANARY,
    )

    [line] = read(lines)
    assert line["kept"] == {"list": [{"n": 1}]}
    assert CANARY not in lines.getvalue().decode()


def test_lines_of_libraries_have_the_same_form(lines: io.BytesIO) -> None:
    logging.getLogger("asyncpg").warning("pool of %s is full", "billing")
    logging.getLogger("uvicorn.access").warning("GET /?q=%s", CANARY)

    [line] = read(lines)
    assert (line["logger"], line["text"]) == ("asyncpg", "pool of billing is full")
    assert line["level"] == "warning"


def test_a_person_at_a_terminal_gets_words(lines: io.BytesIO) -> None:
    stream = io.BytesIO()
    logs.configure(False, stream=stream)
    structlog.get_logger().info("test.logs.written", number=3)

    assert b"test.logs.written" in stream.getvalue()
    assert b"number=3" in stream.getvalue()
