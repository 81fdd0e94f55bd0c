"""One primary a kind: whoever becomes it takes the mark from whoever had it (ORG-18)."""

from typing import TypeVar

from thenga.domains.organization.services import records
from thenga.domains.organization.tables import Address, Contact
from thenga.kernel.db.work import Work

P = TypeVar("P", Address, Contact)


async def in_turn(work: Work, row: type[P]) -> None:
    """Wait before the first row is locked, so that two who want the mark never wait crosswise."""
    await records.in_turn(work, row, "primary")


async def take_from(work: Work, holder: P, row: type[P]) -> tuple[P, list[str]] | None:
    """Take the mark from whoever has it for this kind; who that was, and what changed of it."""
    other = await work.find(row, kind=holder.kind, primary=True)
    if other is None or other.id == holder.id:
        return None
    held = await work.lock(row, other.id)
    return held, await records.change(work, held, {"primary": False})
