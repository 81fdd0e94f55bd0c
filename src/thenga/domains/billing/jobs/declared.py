"""The jobs of Billing, and how time moves a row that money depends on."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import asyncpg

from thenga.domains.billing.services import (
    accounts,
)
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals
from thenga.kernel.jobs.run import Run

jobs = Jobs("billing")
reseal_columns = reseals(jobs)

# What tables refuse, and what triggers do: a booking that does not sum to 0, a day billed twice.
BROKEN = (asyncpg.IntegrityConstraintViolationError, asyncpg.RaiseError)


async def move(
    run: Run, step: Callable[[Work, UUID], Awaitable[None]], row: type[accounts.Timed], row_id: UUID
) -> None:
    """Let time move a row that money hangs on; an invariant that this would break parks the
    account, in a unit of work of its own because the first one is lost (BIL-51)."""
    try:
        async with run.working() as work:
            await step(work, row_id)
    except BROKEN as broken:
        async with run.working() as work:
            await accounts.park_broken(work, row, row_id, broken=str(broken))
