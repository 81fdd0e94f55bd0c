"""Trials: a plan can be tried once, whole and without a card."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.plans import Code
from thenga.domains.billing.api.terms import PriceView
from thenga.domains.billing.lifecycles import TrialLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import configuration, trial_calendar, trials
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.services.plans import PlanNotAvailable
from thenga.domains.billing.services.trials import TrialUsed
from thenga.domains.billing.tables import OfferedPlan, Trial, TrialStatus
from thenga.kernel.calendar import local_day
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.lifecycle import AllowedMove

router = make_router("Billing / Trial")

TrialId = Annotated[UUID, Path(alias="trialId")]
OfOrganization = Annotated[
    UUID | None,
    Query(alias="organizationId", description="For operators: whose; for others their own."),
]


class StartTrial(Body):
    plan_code: Annotated[Code, Field(description="The plan to try.")] = "professional"


class TrialView(Stored):
    """A trial as time has made it by now; nothing is charged when it ends."""

    organization_id: UUID
    plan_code: str
    plan_version: int
    subscription_id: UUID
    started_at: datetime
    ends_at: Annotated[datetime, Field(description="A local midnight; from then it is over.")]
    notice_at: datetime
    status: TrialStatus
    ending: Annotated[bool, Field(description="In its last three days.")]
    days_left: Annotated[int, Field(description="Whole or begun days.")]
    converted_at: datetime | None
    ended_at: datetime | None
    conversion: Annotated[
        list[PriceView], Field(description="What the plan costs, if it is bought.")
    ]
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(
        cls, trial: Trial, plan: OfferedPlan, *, now: datetime, rate_pct: Decimal
    ) -> "TrialView":
        over = trial.status is TrialStatus.ACTIVE and now >= trial.ends_at
        running = trial.status is TrialStatus.ACTIVE and not over
        values = trial.__dict__ | {
            "status": TrialStatus.EXPIRED if over else trial.status,
            "ending": running and trial_calendar.is_ending(trial.notice_at, trial.ends_at, now),
            "days_left": trial_calendar.days_left(trial.ends_at, now) if running else 0,
            "ended_at": trial.ends_at if over else trial.ended_at,
            "conversion": [PriceView.of(one, rate_pct) for one in plan.prices],
            "allowed_moves": [] if over else TrialLifecycle.allowed(trial, now),
        }
        return cls.shown(values)


@router.post(
    "/billing/trials",
    status_code=201,
    responses=problems(TrialUsed, Duplicate, PlanNotAvailable),
)
async def start_trial(
    body: StartTrial, work: Annotated[Work, writes(Permission.TRIAL_CREATE)]
) -> TrialView:
    """Try a whole plan for fourteen days, once, without a card. It ends by itself."""
    trial = await trials.start(work, plan_code=body.plan_code)
    return await _view(work, trial)


@router.get("/billing/trials")
async def list_trials(
    read: Annotated[Reader, reads(Permission.TRIAL_READ)],
    page: Annotated[Paged, paged("createdAt")],
    organization_id: OfOrganization = None,
) -> PageOf[TrialView]:
    """The trial of the organization: a list of one, or of none before it has begun."""
    await act_for(read, organization_id)
    found = await trials.list_all(read, page)
    shown = {one.id: await _view(read, one) for one in found.items}
    return PageOf[TrialView].of(found, lambda trial: shown[trial.id])


@router.get("/billing/trials/{trialId}")
async def get_trial(
    trial_id: TrialId, read: Annotated[Reader, reads(Permission.TRIAL_READ)]
) -> TrialView:
    """How long the trial lasts, and what the plan would cost."""
    return await _view(read, await read.get(Trial, trial_id))


@router.post("/billing/trials/{trialId}/cancel", responses=problems(InvalidTransition))
async def cancel_trial(
    trial_id: TrialId, work: Annotated[Work, writes(Permission.TRIAL_CANCEL)]
) -> TrialView:
    """End the trial now. There is no second one."""
    return await _view(work, await trials.cancel(work, trial_id))


async def _view(read: Reader, trial: Trial) -> TrialView:
    plan = await trials.plan_of(read, trial)
    rate = await configuration.vat_rate(read, local_day(read.now))
    return TrialView.of(trial, plan, now=read.now, rate_pct=rate)
