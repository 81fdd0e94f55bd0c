"""The registry of Billing's jobs, and scheduled steps of rows that money depends on."""

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

# What constraints and triggers refuse: an unbalanced booking, a day billed twice.
BROKEN = (asyncpg.IntegrityConstraintViolationError, asyncpg.RaiseError)


async def move(
    run: Run, step: Callable[[Work, UUID], Awaitable[None]], row: type[accounts.Timed], row_id: UUID
) -> None:
    """Run the scheduled step of a row. If it would break an invariant, park the account in a new
    unit of work, because the first one is rolled back (BIL-51)."""
    try:
        async with run.working() as work:
            await step(work, row_id)
    except BROKEN as broken:
        async with run.working() as work:
            await accounts.park_broken(work, row, row_id, broken=str(broken))
