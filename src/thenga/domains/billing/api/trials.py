"""Trials: a plan can be tried once, whole and without a card."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.plans import Code
from thenga.domains.billing.api.subscriptions import PaymentToMake, Provider, ReturnUrl
from thenga.domains.billing.api.terms import PriceView
from thenga.domains.billing.lifecycles import TrialLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import payments, pricing, trials
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.customer import AccountParked, TaxDataMissing
from thenga.domains.billing.services.payments import (
    PaymentChoice,
    PaymentInProgress,
    PaymentMethodRequired,
    ProviderNotAllowed,
    RetryLimit,
)
from thenga.domains.billing.services.trials import ConversionTime, TrialUsed
from thenga.domains.billing.tables import (
    Interval,
    OfferedPlan,
    Subscription,
    Trial,
    TrialStatus,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day

router = make_router("Billing / Trial")

TrialId = Annotated[UUID, Path(alias="trialId")]
OfOrganization = Annotated[
    UUID | None,
    Query(alias="organizationId", description="For operators: whose; for others their own."),
]


class StartTrial(Body):
    plan_code: Annotated[Code, Field(description="The plan to try.")] = "professional"


class ConvertTrial(Body):
    interval: Annotated[Interval, Field(description="Paid by month or by year.")]
    when: Annotated[
        ConversionTime,
        Field(description="`trial_end` keeps the days that are left; it needs a method on file."),
    ] = ConversionTime.NOW
    payment_method_id: Annotated[UUID | None, Field(description="A method on file.")] = None
    provider: Annotated[
        Provider | None, Field(description="Or pay at this provider's page; then `returnUrl`.")
    ] = None
    return_url: Annotated[
        ReturnUrl | None, Field(description="Where the provider sends the customer back to.")
    ] = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """What becomes of a trial at its end, and the VAT of its prices."""

    interval: Interval | None
    on_file: bool
    rate_pct: Decimal | None


class TrialView(Stored):
    """A trial as time has made it by now; nothing is charged when it ends, unless it was chosen."""

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
    chosen_interval: Annotated[
        Interval | None, Field(description="Bought so when it ends, with the method on file.")
    ]
    payment: Annotated[
        PaymentToMake | None, Field(description="In the answer to a conversion: its payment.")
    ] = None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, trial: Trial, plan: OfferedPlan, chosen: Chosen, *, now: datetime) -> "TrialView":
        converts = chosen.interval is not None and chosen.on_file
        over = trial.status is TrialStatus.ACTIVE and now >= trial.ends_at and not converts
        running = trial.status is TrialStatus.ACTIVE and not over
        values = trial.__dict__ | {
            "status": TrialStatus.EXPIRED if over else trial.status,
            "ending": running and trials.is_ending(trial.notice_at, trial.ends_at, now),
            "days_left": trials.days_left(trial.ends_at, now) if running else 0,
            "ended_at": trial.ends_at if over else trial.ended_at,
            "conversion": [PriceView.of(one, chosen.rate_pct) for one in plan.prices],
            "chosen_interval": chosen.interval,
            "payment": None,
            "allowed_moves": [] if over else TrialLifecycle.allowed(trial, now),
        }
        return cls.shown(values)


@router.post(
    "/billing/trials",
    status_code=201,
    responses=problems(TrialUsed, Duplicate, PlanNotAvailable, InvalidTransition),
)
async def start_trial(
    body: StartTrial, work: Annotated[Work, writes(Permission.TRIAL_CREATE)]
) -> TrialView:
    """Try a whole plan for fourteen days, once, without a card. It ends by itself."""
    trial = await trials.start_trial(work, plan_code=body.plan_code)
    return await _view(work, trial)


@router.get("/billing/trials")
async def list_trials(
    read: Annotated[Reader, reads(Permission.TRIAL_READ)],
    page: Annotated[Paged, paged("createdAt")],
    organization_id: OfOrganization = None,
) -> PageOf[TrialView]:
    """The trial of the organization: a list of one, or of none before it has begun."""
    await act_for(read, organization_id)
    found = await trials.list_trials(read, page)
    shown = {one.id: await _view(read, one) for one in found.items}
    return PageOf[TrialView].of(found, lambda trial: shown[trial.id])


@router.get("/billing/trials/{trialId}")
async def get_trial(
    trial_id: TrialId, read: Annotated[Reader, reads(Permission.TRIAL_READ)]
) -> TrialView:
    """How long the trial lasts, and what the plan would cost."""
    return await _view(read, await read.get(Trial, trial_id))


@router.post(
    "/billing/trials/{trialId}/convert",
    responses=problems(
        *(InvalidTransition, PlanNotAvailable, TaxDataMissing, PaymentMethodRequired),
        *(PaymentInProgress, RetryLimit, ProviderNotAllowed, AccountParked, RuleViolated),
    ),
)
async def convert_trial(
    trial_id: TrialId,
    body: ConvertTrial,
    work: Annotated[Work, writes(Permission.TRIAL_CONVERT)],
) -> TrialView:
    """Buy what is tried: now, or when the trial ends.

    Bought now, the plan is paid from today on, and the trial is over when the money is there. A
    charge that is declined changes nothing: the trial goes on. Chosen for its end, nothing is
    charged before. Paid at a provider, its page is in `payment.nextAction` as soon as the provider
    has answered: read `payment.path` once a second while the payment is `created`.
    """
    how = PaymentChoice(body.payment_method_id, body.provider, body.return_url)
    trial, payment = await trials.convert(
        work, trial_id, interval=body.interval, how=how, when=body.when
    )
    shown = await _view(work, trial)
    shown.payment = PaymentToMake.of(payment) if payment else None
    return shown


@router.post("/billing/trials/{trialId}/cancel", responses=problems(InvalidTransition))
async def cancel_trial(
    trial_id: TrialId, work: Annotated[Work, writes(Permission.TRIAL_CANCEL)]
) -> TrialView:
    """End the trial now. There is no second one."""
    return await _view(work, await trials.cancel_trial(work, trial_id))


async def _view(read: Reader, trial: Trial) -> TrialView:
    plan = await trials.plan_of(read, trial)
    subscription = await read.get(Subscription, trial.subscription_id)
    goes_on = subscription.cancel_at is None
    chosen = Chosen(
        interval=Interval(subscription.interval) if subscription.interval and goes_on else None,
        on_file=await payments.method_of(read, subscription) is not None,
        rate_pct=await pricing.vat_rate_on(read, local_day(read.now)),
    )
    return TrialView.of(trial, plan, chosen, now=read.now)
