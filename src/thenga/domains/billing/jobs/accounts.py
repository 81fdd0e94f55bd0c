"""Jobs of accounts: nightly ledger checks, parking, and the test clock."""

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
    """Check all books once a day, after 02:00."""
    await accounts.verify_ledger(work)


@jobs.every(timedelta(hours=1))
async def look_after_verifications(work: Work) -> None:
    """Report a night without a check as a failed check."""
    await accounts.report_missing_check(work)


@jobs.implements(customer.park_account)
async def park_account(work: Work, *, reason: str) -> None:
    """Park an account that the nightly check found wrong (BIL-51)."""
    await accounts.park(work, reason=reason)


@jobs.implements(customer.free_account)
async def free_account(work: Work, *, reason: str) -> None:
    """Unpark an account that a later check found right."""
    await accounts.unpark(work, reason=reason)


@jobs.implements(accounts.advance_clock)
async def advance_clock(run: Run, *, clock_id: UUID, turn: int) -> None:
    """One step of an advance: run what is due, or move the clock to the next date."""
    async with run.reading() as read:
        clock, clocks = await read.get(TestClock, clock_id), read.port(Clocks)
    step = await accounts.next_step(run.host, clock)
    if step.move_to is not None:
        ahead = accounts.ahead_seconds(step.move_to, run.host.now())
        await clocks.move(organization_id=clock.organization_id, ahead_seconds=ahead)
    async with run.working() as work:
        await accounts.record_step(work, clock_id, step)
