"""Flows and tickets that are over are taken away after a day."""

from datetime import timedelta

from thenga.kernel.db.work import Work

_KEPT = timedelta(days=1)
# $1 the instant before which it is over, $2 how many at most.
_STATEMENTS = (
    """
    DELETE FROM identity.provider_flow WHERE hash IN (
        SELECT hash FROM identity.provider_flow WHERE expires_at < $1 LIMIT $2)
    """,
    """
    DELETE FROM identity.provider_ticket WHERE hash IN (
        SELECT hash FROM identity.provider_ticket WHERE expires_at < $1 LIMIT $2)
    """,
)


async def purge(work: Work, *, limit: int) -> None:
    """Over all people, as the system login; what is left waits for the next hour."""
    for statement in _STATEMENTS:
        await work.run(statement, work.now - _KEPT, limit)
