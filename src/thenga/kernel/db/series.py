"""Numbers in a row: each organization counts its own series from 1, without gaps.

The number commits with the row that carries it. Whoever asks for the next one waits until then, so
that a rollback gives its number back; a sequence of the database would lose it.
"""

from functools import cache

from thenga.kernel.db.work import Work


async def next_number(work: Work, series: str) -> int:
    """The next number of the organization's series, locked until this work ends.

    Ask as late as the rule allows: others who want a number of the same series wait.
    """
    found = await work.query(_next(work.domain), work.organization_id, series)
    number: int = found[0]["last_number"]
    return number


@cache
def _next(domain: str) -> str:
    return (
        f"INSERT INTO {domain}.series AS known (organization_id, name, last_number) "
        f"VALUES ($1, $2, 1) ON CONFLICT (organization_id, name) "
        f"DO UPDATE SET last_number = known.last_number + 1 RETURNING last_number"
    )
