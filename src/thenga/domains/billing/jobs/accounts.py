"""Accounts: nightly checks of the books, parking, and the clock of a sandbox."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.billing.jobs.declared import jobs
from thenga.domains.billing.services import (
    accounts,
    customer,
)
from thenga.domains.billing.tables import (
    TestClock,
)
from thenga.domains.organization.public import Clocks
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.run import Run


@jobs.every(timedelta(minutes=10))
async def verify_ledger(work: Work) -> None:
    """All books are checked once a day, after two in the morning."""
    await accounts.verify_ledger(work)


@jobs.every(timedelta(hours=1))
async def look_after_verifications(work: Work) -> None:
    """A night without a check is told as one that failed."""
    await accounts.report_missing_check(work)


@jobs.implements(customer.park_account)
async def park_account(work: Work, *, reason: str) -> None:
    """Found by the check of the night (BIL-51)."""
    await accounts.park(work, reason=reason)


@jobs.implements(customer.free_account)
async def free_account(work: Work, *, reason: str) -> None:
    """The check of a later night found nothing any more."""
    await accounts.unpark(work, reason=reason)


@jobs.implements(accounts.advance_clock)
async def advance_clock(run: Run, *, clock_id: UUID, turn: int) -> None:
    """One stop of a jump: do what is due, or move the clock to where something will be."""
    async with run.reading() as read:
        clock, clocks = await read.get(TestClock, clock_id), read.port(Clocks)
    step = await accounts.next_step(run.host, clock)
    if step.move_to is not None:
        ahead = accounts.ahead_seconds(step.move_to, run.host.now())
        await clocks.move(organization_id=clock.organization_id, ahead_seconds=ahead)
    async with run.working() as work:
        await accounts.go_on(work, clock_id, step)
