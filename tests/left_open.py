"""Units of work that a test leaves open are closed after it.

A test that fails between the first statement of a unit of work and its end keeps a connection of
the pool, and the locks of its transaction. Eight of them make every later test `overloaded`.
"""

import asyncio
from typing import Any

import pytest

from thenga.kernel.db.engine import Connection
from thenga.kernel.db.reader import Reader

Task = asyncio.Task[Any]


class Units:
    """The units of work of this process that have begun and not ended, and who began them."""

    def __init__(self) -> None:
        self._begun: dict[Reader, Task | None] = {}

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        begin, end = Reader._open, Reader._end

        async def opening(unit: Reader) -> Connection:
            try:
                return await begin(unit)
            finally:
                if unit._connection is not None:
                    self._begun.setdefault(unit, asyncio.current_task())

        async def ending(unit: Reader, word: str) -> None:
            self._begun.pop(unit, None)
            await end(unit, word)

        patch.setattr(Reader, "_open", opening)
        patch.setattr(Reader, "_end", ending)

    def open(self) -> frozenset[Reader]:
        return frozenset(self._begun)

    async def close_left(self, before: frozenset[Reader]) -> list[Reader]:
        """Close what was begun since `before` by tasks that are over; who still runs goes on."""
        left = [
            unit
            for unit, task in self._begun.items()
            if unit not in before and (task is None or task.done())
        ]
        for unit in left:
            await unit.close()
        return left
