"""The statements that one task of a test sends to the database."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from asyncpg import Connection

_VALUE = re.compile(r"'[^']*'")
_METHODS = ("execute", "executemany", "fetch", "fetchrow", "fetchval")


@contextmanager
def counted() -> Iterator[list[str]]:
    """The texts that this task sends inside the block, without their values."""
    sent: list[str] = []
    with pytest.MonkeyPatch.context() as counting:
        for name in _METHODS:
            counting.setattr(Connection, name, _noting(name, sent))
        yield sent


def _noting(name: str, sent: list[str]) -> Any:
    really, here = getattr(Connection, name), asyncio.current_task()

    async def noting(self: Connection, text: str, *arguments: Any, **more: Any) -> Any:
        if asyncio.current_task() is here:
            sent.append(_VALUE.sub("''", text))
        return await really(self, text, *arguments, **more)

    return noting
