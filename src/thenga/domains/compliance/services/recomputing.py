"""Marks the readiness of a company as due for computing; the lowest module of the services."""

from datetime import datetime, timedelta

from thenga.kernel.db.work import Work

DELAY = timedelta(seconds=5)

_MARK = """
    INSERT INTO compliance.readiness_state AS state (id, organization_id, created_at, updated_at,
           version, revision, computed_revision, blockers, next_check_at)
    VALUES ($1, $1, $2, $2, 1, 1, 0, '[]', $3)
    ON CONFLICT (organization_id, id) DO UPDATE SET revision = state.revision + 1,
           next_check_at = least(state.next_check_at, excluded.next_check_at)"""


async def mark_due(work: Work, *, at: datetime | None = None) -> None:
    """Have readiness computed five seconds from now (CMP-32).

    Call it last: it holds the company's readiness row until the end of the unit of work.
    """
    due = at or work.now + DELAY
    await work.run(_MARK, work.organization_id, work.now, due)
