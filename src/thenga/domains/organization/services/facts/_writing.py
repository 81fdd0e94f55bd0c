"""Writing statements: their values in plain or sealed, and their end."""

from typing import Any

from thenga.domains.organization.services import records
from thenga.domains.organization.services.facts import fact_values
from thenga.domains.organization.services.facts._ledger import Picture, Source, digest_of
from thenga.domains.organization.services.records import Place, Subject
from thenga.domains.organization.tables import CustomerStatement, ImportedStatement, Verification
from thenga.kernel.db.work import Work

Statement = CustomerStatement | ImportedStatement


async def sealed_for(work: Work, source: Source, key: str, value: Any) -> bytes:
    """A secret value as it stands in its own row and nowhere else (ORG-16)."""
    sealing = await records.key_for(work, Subject("organization", work.organization_id))
    place = Place(work.organization_id, source.id, key)
    return records.seal(sealing, fact_values.as_text(value), place)


async def end_statement(work: Work, statement: Statement) -> None:
    """Withdraw it; nothing else of a statement is ever written later."""
    held = await work.lock(type(statement), statement.id)
    held.withdrawn_at = work.now
    if isinstance(held, CustomerStatement):
        held.next_check_at = None
    await work.save(held)


async def end_checks(work: Work, picture: Picture, *, of: bytes | None) -> None:
    """A check of a value that is taken back or checked anew is over; it stays readable (ORG-6)."""
    for check in [one for one in picture.checks if digest_of(one) == of]:
        row = await work.lock(Verification, check.id)
        row.ended_at, row.next_check_at = work.now, None
        await work.save(row)
        picture.checks.remove(check)
