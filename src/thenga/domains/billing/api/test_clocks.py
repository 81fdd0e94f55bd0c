"""The clock of a sandbox: how late it is there, and letting time pass."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import accounts
from thenga.domains.billing.services.accounts import ClockBackwards
from thenga.domains.billing.tables import TestClock
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotASandbox, RuleViolated
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.operations import PREFIX
from thenga.kernel.http.reference import problems

router = make_router("Billing / Test clock")


class AdvanceClock(Body):
    to: Annotated[AwareDatetime, Field(description="An instant, at most five years ahead.")]


class TestClockView(View):
    """How late it is in this sandbox, and the jump that was asked for last."""

    organization_id: UUID
    now: datetime
    status: Annotated[
        Literal["ready", "advancing", "stopped"],
        Field(description="`stopped`: something did not come to an end; ask support."),
    ]
    target_at: datetime | None
    stepped_to: Annotated[
        datetime | None, Field(description="The instant at which the jump has stopped last.")
    ]
    steps: Annotated[int, Field(description="How often it has stopped on its way.")]

    @property
    def own_path(self) -> str:
        """Where a jump is watched."""
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
    """How late it is in this sandbox, and how far a jump has come."""
    return TestClockView.of(read, await accounts.current(read))


@router.post(
    "/billing/test-clock/advance",
    status_code=202,
    responses=problems(NotASandbox, ClockBackwards, RuleViolated),
)
async def advance_test_clock(
    body: AdvanceClock, work: Annotated[Work, writes(Permission.TEST_CLOCK_ADVANCE)]
) -> TestClockView:
    """Let time pass in a sandbox.

    The jump stops wherever something is due, and that happens at its own instant: 400 days are 13
    renewals on their own dates. All domains follow the clock.
    """
    return TestClockView.of(work, await accounts.advance(work, to=body.to))
