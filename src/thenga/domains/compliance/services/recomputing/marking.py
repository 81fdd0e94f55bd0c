"""What a change of a requirement, a document, an evidence or a tender does to readiness."""

from datetime import timedelta

from thenga.domains.compliance.tables import ReadinessState
from thenga.kernel.db.work import Work

_SOON = timedelta(seconds=5)


async def mark_due(work: Work) -> None:
    """Readiness is computed again 5 seconds after a change; until then it is stale (CMP-32)."""
    found = await work.find(ReadinessState, id=work.organization_id)
    if found is None:
        state = ReadinessState(
            id=work.organization_id,
            organization_id=work.organization_id,
            revision=1,
            blockers=[],
            tenders={},
            next_check_at=work.now + _SOON,
        )
        await work.add(state)
        return
    held = await work.lock(ReadinessState, found.id)
    held.revision += 1
    due = work.now + _SOON
    held.next_check_at = due if held.next_check_at is None else min(held.next_check_at, due)
    await work.save(held)
