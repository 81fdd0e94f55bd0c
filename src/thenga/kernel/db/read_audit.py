"""Reads that are told: who looked at what stands in the trail before the answer leaves."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def tell(
    read: Reader, action: str, target: tuple[str, UUID | str], detail: dict[str, Any]
) -> None:
    """An audit row for a read, in a short transaction of its own."""
    work = Work(read.host, read.domain, replace(read._scope), read.origin, login=read._login)
    try:
        work.note(action, target, detail)
        await work.finish()
    finally:
        await work.close()
