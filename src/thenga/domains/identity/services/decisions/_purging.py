"""Decisions are kept for a time (IDN-36): records 90 days, tallies 30."""

from datetime import timedelta

from thenga.kernel.db.work import Work

RECORDS = timedelta(days=90)
TALLIES = timedelta(days=30)

_PURGES = {
    """DELETE FROM identity.decision_record WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM identity.decision_record
        WHERE created_at < $1 ORDER BY created_at LIMIT $2)""": RECORDS,
    """DELETE FROM identity.personal_decision WHERE (user_id, id) IN (
        SELECT user_id, id FROM identity.personal_decision
        WHERE created_at < $1 ORDER BY created_at LIMIT $2)""": RECORDS,
    """DELETE FROM identity.platform_decision WHERE id IN (
        SELECT id FROM identity.platform_decision
        WHERE created_at < $1 ORDER BY created_at LIMIT $2)""": RECORDS,
    """DELETE FROM identity.decision_tally WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM identity.decision_tally
        WHERE hour < $1 ORDER BY hour LIMIT $2)""": TALLIES,
    """DELETE FROM identity.platform_tally WHERE id IN (
        SELECT id FROM identity.platform_tally WHERE hour < $1 ORDER BY hour LIMIT $2)""": TALLIES,
}


async def purge(work: Work, *, limit: int) -> None:
    """Take away what is past its time, as the system login."""
    for statement, kept in _PURGES.items():
        await work.run(statement, work.now - kept, limit)
