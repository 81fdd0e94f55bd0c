"""What a change of a requirement, a document, an evidence or a tender does to readiness."""

from datetime import datetime, timedelta

from thenga.kernel.db.work import Work

_SOON = timedelta(seconds=5)

# One statement, so that two first changes at once do not collide and `If-Match` stays untouched.
_MARK = """
    INSERT INTO compliance.readiness_state AS state (id, organization_id, created_at, updated_at,
        version, revision, computed_revision, blockers, tenders, unknown_since, next_check_at)
    VALUES ($1, $1, $2, $2, 1, 1, 0, '[]', '{}', '{}', $3)
    ON CONFLICT (organization_id, id) DO UPDATE SET revision = state.revision + 1,
        version = state.version + 1, updated_at = excluded.updated_at,
        next_check_at = least(state.next_check_at, excluded.next_check_at)"""


async def mark_due(work: Work, *, at: datetime | None = None) -> None:
    """Readiness is computed again 5 seconds after a change; until then it is stale (CMP-32).

    Call it last: it holds the company's readiness until the end of the unit of work.
    """
    await work.run(_MARK, work.organization_id, work.now, at or work.now + _SOON)
