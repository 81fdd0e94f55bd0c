"""Reads that are told: who looked at what stands in the trail before the answer leaves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def tell(
    read: Reader, action: str, target: tuple[str, UUID | str], detail: dict[str, Any]
) -> None:
    """An audit row for a read, in a short transaction of its own."""
    async with separate_work(read) as work:
        work.note(action, target, detail)


@asynccontextmanager
async def separate_work(read: Reader) -> AsyncIterator[Work]:
    """A short transaction of its own, in which a read is recorded before the answer leaves."""
    work = Work(read.host, read.domain, replace(read._scope), read.origin, login=read._login)
    work.held_as = read.held_as
    try:
        yield work
        await work.finish()
    finally:
        await work.close()
