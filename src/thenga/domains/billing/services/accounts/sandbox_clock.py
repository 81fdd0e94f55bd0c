"""The test clock of a sandbox. An advance stops at every date on which a domain has work (BIL-50).

Organization owns the clock and all domains follow it. Each step is one run of a job: it waits until
the due work is done, then moves the clock to the next date. `ports/timetable.py` in the kernel
collects the dates of all domains.
"""

from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.billing.lifecycles import TestClockLifecycle
from thenga.domains.billing.services import customer
from thenga.domains.billing.tables import Account, Book, ClockStatus, TestClock
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import NotASandbox, Problem, RuleViolated, extensions
from thenga.kernel.process.host import Host
from thenga.kernel.standing import timetable
from thenga.kernel.standing.timetable import Step, Timetable

_FURTHEST = timedelta(days=5 * 366)
_A_MOMENT = timedelta(milliseconds=100)
_PATIENT_AFTER = 10  # waits longer after this many turns at one instant
_MOST_WAITS = 150  # turns at one instant, about two minutes; then it stops for a review

advance_clock = job_stub(
    "billing.advance_clock", form=Form.OUTSIDE, key="{clock_id}:{turn}", as_system=True
)


class ClockBackwards(Problem):
    """A test clock only moves forward. Send a time after `now`, the sandbox's current time."""

    code, status, title = "billing-clock-backwards", 422, "This time has passed"
    members = extensions(now=(datetime, "Current time of the sandbox."))


async def current(read: Reader) -> TestClock | None:
    """The latest advance. None if the clock was never advanced."""
    account = await read.find(Account)
    if account is None or account.book is not Book.SANDBOX:
        raise NotASandbox()
    return await read.find(TestClock)


async def advance(work: Work, *, to: datetime) -> TestClock:
    """Advance the clock to an instant. An advance in progress continues to the later target."""
    account = await customer.lock_account(work)
    if account.book is not Book.SANDBOX:
        raise NotASandbox()
    if to <= work.now:
        raise ClockBackwards(now=work.now.isoformat())
    if to > work.now + _FURTHEST:
        raise RuleViolated(
            "A test clock moves at most five years at a time. Choose an earlier time.",
            rule="test-clock-reach",
        )
    known = await work.find(TestClock)
    if known is None:
        made = TestClock(organization_id=work.organization_id, target_at=to, stepped_to=work.now)
        clock = await work.hold(await work.add(made))
    else:
        clock = await work.lock(TestClock, known.id)
        if clock.status is ClockStatus.ADVANCING:
            clock.target_at = max(clock.target_at, to)
            return await work.save(clock)
        TestClockLifecycle.advance(clock, at=work.now)
        clock.target_at, clock.stepped_to = to, work.now
        clock.steps = clock.waited = 0
    await _next_turn(work, clock)
    return clock


async def next_step(host: Host, clock: TestClock) -> Step:
    """Start what is due in any domain, or move the clock to the next date of any domain."""
    if clock.status is not ClockStatus.ADVANCING:
        return Step()
    return await timetable.next_step(
        host.bindings.every(Timetable),
        clock.organization_id,
        stepped_to=clock.stepped_to,
        target=clock.target_at,
    )


async def record_step(work: Work, clock_id: UUID, step: Step) -> None:
    """Record the result of a step and schedule the next one."""
    clock = await work.lock(TestClock, clock_id)
    if clock.status is not ClockStatus.ADVANCING:
        return
    # Only a step of the clock is progress; work that stays due is not.
    clock.waited += 1
    if step.move_to is not None:
        clock.stepped_to, clock.steps, clock.waited = step.move_to, clock.steps + 1, 0
    if step.arrived:
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
    """How many whole seconds a clock must run ahead of the base clock to show an instant."""
    return -((base_now - to) // timedelta(seconds=1))
