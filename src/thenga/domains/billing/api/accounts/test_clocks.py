"""Test clocks: the time in a sandbox, and moving it forward."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from thenga.domains.billing.api.common_fields import OrganizationRef
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import accounts
from thenga.domains.billing.services.accounts import ClockBackwards
from thenga.domains.billing.tables import TestClock
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotASandbox, RuleViolated
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems

router = make_router("Billing / Test clock")


class AdvanceClock(Body):
    """The time to move to."""

    to: Annotated[AwareDatetime, Field(description="Time to move to, at most five years ahead.")]


class TestClockView(View):
    """The current time of a sandbox and its latest advance."""

    organization_id: OrganizationRef
    now: Annotated[datetime, Field(description="Current time in the sandbox.")]
    status: Annotated[
        Literal["ready", "advancing", "stopped"],
        Field(
            description="`advancing` until the target is reached. `stopped` means a step did "
            "not finish; contact support."
        ),
    ]
    target_at: Annotated[
        datetime | None,
        Field(description="Time the clock moves to. Null if it was never advanced."),
    ]
    stepped_to: Annotated[datetime | None, Field(description="Time the clock has reached so far.")]
    steps: Annotated[int, Field(description="Number of stops so far.")]

    @property
    def own_path(self) -> str:
        """Where the advance can be followed."""
        return f"{PREFIX}/billing/test-clock"

    @classmethod
    def of(cls, read: Reader, clock: TestClock | None) -> "TestClockView":
        return cls(
            organization_id=read.organization_id,
            now=read.now,
            status=clock.status.value if clock else "ready",
            target_at=clock.target_at if clock else None,
            stepped_to=clock.stepped_to if clock else None,
            steps=clock.steps if clock else 0,
        )


@router.get("/billing/test-clock", responses=problems(NotASandbox))
async def get_test_clock(
    read: Annotated[Reader, reads(Permission.TEST_CLOCK_ADVANCE)],
) -> TestClockView:
    """Get the current time of the sandbox and the progress of an advance."""
    return TestClockView.of(read, await accounts.current(read))


@router.post(
    "/billing/test-clock/advance",
    status_code=202,
    responses=problems(NotASandbox, ClockBackwards, RuleViolated),
)
async def advance_test_clock(
    body: AdvanceClock, work: Annotated[Work, writes(Permission.TEST_CLOCK_ADVANCE)]
) -> TestClockView:
    """Move the clock of a sandbox forward.

    The clock stops wherever something is due, and it happens at its own time: 400 days are 13
    renewals on their own dates. All domains follow the clock.
    """
    return TestClockView.of(work, await accounts.advance(work, to=body.to))
