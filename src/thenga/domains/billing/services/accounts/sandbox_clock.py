"""The clock of a sandbox: a jump stops wherever time has something to do here (BIL-50).

The clock itself is Organization's, and all domains follow it. Each stop is a turn of one job: it
has done what is due, waits until nothing is under way, and moves the clock to the next instant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.billing.lifecycles import TestClockLifecycle
from thenga.domains.billing.services import customer
from thenga.domains.billing.tables import (
    Account,
    Book,
    Cancellation,
    ClockStatus,
    EntitlementSet,
    Grant,
    Invoice,
    Payment,
    PaymentFailure,
    PaymentMethod,
    Refund,
    Reservation,
    Subscription,
    TestClock,
    Trial,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import TenantRow
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import Problem, RuleViolated

_FURTHEST = timedelta(days=5 * 366)
_A_MOMENT = timedelta(milliseconds=100)
_PATIENT_AFTER = 10  # every so many turns at one instant it waits a moment longer
_MOST_WAITS = 150  # turns at one instant, some two minutes, then somebody must look
_A_PAGE = 200

# Whatever time moves in Billing has its next check here.
TIMED: tuple[type[TenantRow], ...] = (
    *(Subscription, Trial, PaymentFailure, Cancellation),
    *(Payment, PaymentMethod, Refund, Invoice, EntitlementSet, Grant, Reservation),
)

advance_clock = job_stub(
    "billing.advance_clock", form=Form.OUTSIDE, key="{clock_id}:{turn}", as_system=True
)
# The application may see the locks of jobs, and a lock names the organization.
_UNDER_WAY = """
    SELECT count(*) FROM billing.procrastinate_jobs
    WHERE status IN ('todo', 'doing') AND lock LIKE $1 AND lock NOT LIKE 'advance_clock:%'
        AND (scheduled_at IS NULL OR scheduled_at <= $2)
"""


class NotASandbox(Problem):
    """Only a sandbox organization has a clock of its own. Found one with `mode: sandbox`."""

    code, status, title = "billing-not-sandbox", 409, "This organization is not a sandbox"


class ClockBackwards(Problem):
    """A clock goes forward only. `now` says how late it is there."""

    code, status, title = "billing-clock-backwards", 422, "That moment has passed"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn does: jobs for what is due, a move of the clock, the end, or nothing yet."""

    due: Sequence[tuple[type[TenantRow], UUID]] = field(default_factory=tuple)
    move_to: datetime | None = None
    arrived: bool = False


async def current(read: Reader) -> TestClock | None:
    """The jump that was asked for last; none where nobody has moved the clock from here."""
    account = await read.find(Account)
    if account is None or account.book is not Book.SANDBOX:
        raise NotASandbox()
    return await read.find(TestClock)


async def advance(work: Work, *, to: datetime) -> TestClock:
    """Let time pass to an instant; a jump that is under way goes on to the later one."""
    account = await customer.lock_account(work)
    if account.book is not Book.SANDBOX:
        raise NotASandbox()
    if to <= work.now:
        raise ClockBackwards(now=work.now.isoformat())
    if to > work.now + _FURTHEST:
        raise RuleViolated("A clock moves five years at a time at most.", rule="test-clock-reach")
    known = await work.find(TestClock)
    if known is None:
        made = TestClock(organization_id=work.organization_id, target_at=to, stepped_to=work.now)
        clock = await work.hold(await work.add(made))
    else:
        clock = await work.lock(TestClock, known.id)
        if clock.status is ClockStatus.ADVANCING:
            clock.target_at = max(clock.target_at, to)
            return await work.save(clock)
        TestClockLifecycle.go_on(clock, at=work.now)
        clock.target_at, clock.stepped_to = to, work.now
        clock.steps = clock.waited = 0
    await _next_turn(work, clock)
    return clock


async def look(read: Reader, clock_id: UUID) -> Turn:
    """What the next turn has to do, by the clock of the organization as we know it."""
    clock = await read.get(TestClock, clock_id)
    if clock.status is not ClockStatus.ADVANCING or read.now < clock.stepped_to:
        return Turn()  # the clock was moved and the word is still on its way
    due = await _due(read)
    if due:
        return Turn(due=due)
    if await _is_busy(read):
        return Turn()
    if read.now >= clock.target_at:
        return Turn(arrived=True)
    return Turn(move_to=min([*await _checks(read), clock.target_at]))


async def _due(read: Reader) -> list[tuple[type[TenantRow], UUID]]:
    found: list[tuple[type[TenantRow], UUID]] = []
    for row in TIMED:
        table = row.__table__
        statement = select(table.c.id).where(
            table.c.organization_id == read.organization_id,
            table.c.next_check_at <= read.now,
        )
        ids = await read.values(statement.order_by(table.c.next_check_at), limit=_A_PAGE)
        found += [(row, row_id) for row_id in ids]
    return found


async def _checks(read: Reader) -> list[datetime]:
    """The next instant of each kind of row."""
    found = []
    for row in TIMED:
        table = row.__table__
        first = select(func.min(table.c.next_check_at)).where(
            table.c.organization_id == read.organization_id
        )
        found.append(await read.value(first))
    return [at for at in found if at is not None]


async def _is_busy(read: Reader) -> bool:
    connection = await read._open()
    named = f"%:{read.organization_id}:%"
    return bool(await connection.fetchval(_UNDER_WAY, named, read.host.now()))


async def go_on(work: Work, clock_id: UUID, turn: Turn) -> None:
    """Write down what a turn did, and plan the next one."""
    clock = await work.lock(TestClock, clock_id)
    if clock.status is not ClockStatus.ADVANCING:
        return
    # What is due and never gets done is no progress either: only the clock's own step is.
    clock.waited += 1
    if turn.move_to is not None:
        clock.stepped_to, clock.steps, clock.waited = turn.move_to, clock.steps + 1, 0
    if turn.arrived:
        TestClockLifecycle.arrive(clock, at=work.now)
        await work.save(clock)
    elif clock.waited > _MOST_WAITS:
        TestClockLifecycle.stop(clock, at=work.now)
        await work.save(clock)
    else:
        await _next_turn(work, clock)


async def _next_turn(work: Work, clock: TestClock) -> None:
    clock.turn += 1
    await work.save(clock)
    after = work.now + _A_MOMENT * (1 + clock.waited // _PATIENT_AFTER)
    work.enqueue(advance_clock, clock_id=clock.id, turn=clock.turn, after=after)


def ahead_seconds(to: datetime, base_now: datetime) -> int:
    """How far a clock must be ahead of the base clock to show an instant, in whole seconds."""
    return -((base_now - to) // timedelta(seconds=1))
