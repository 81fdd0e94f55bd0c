"""Taking back a job that has not begun."""

from functools import cache
from typing import Any
from uuid import UUID

from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Job


@cache
def _text(domain: str) -> str:
    # Found by the lock, not by the key: one that waits to be tried again has given up its key.
    return (
        f"UPDATE {domain}.procrastinate_jobs SET status = 'cancelled' "
        f"WHERE lock = $1 AND status = 'todo'"
    )


async def cancel(
    work: Work, job: Job, *, organization_id: UUID | None = None, **arguments: Any
) -> bool:
    """Once this commits, what waits under this key is not done; false where nothing waited.

    A job that is being done at this moment is done. Only a unit of work that is for no
    organization names one.
    """
    key = job.key_of(arguments, work.scope_for(organization_id).organization_id)
    if key is None:
        raise TypeError(f"{job.task} has no key; only keyed jobs can be cancelled")
    unsent = work.unqueue(key)
    done = await work.run(_text(job.domain), key)
    return unsent or done != "UPDATE 0"
