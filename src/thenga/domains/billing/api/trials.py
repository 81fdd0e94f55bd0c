"""Trials: try a plan once, in full and without a card."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.billing.api.catalogue.plans import Code
from thenga.domains.billing.api.catalogue.terms import PriceView
from thenga.domains.billing.api.common_fields import (
    AllowedMoves,
    OrganizationRef,
    PlanCodeText,
    PlanVersionNumber,
    SubscriptionRef,
)
from thenga.domains.billing.api.subscriptions.subscriptions import (
    PaymentToMake,
    Provider,
    ReturnUrl,
)
from thenga.domains.billing.lifecycles import TrialLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import payments, pricing, trials
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.customer import AccountParked, TaxDataMissing
from thenga.domains.billing.services.invoicing import SellerNotSet
from thenga.domains.billing.services.payments import (
    PaymentChoice,
    PaymentInProgress,
    PaymentMethodRequired,
    ProviderNotAllowed,
    RetryLimit,
)
from thenga.domains.billing.services.trials import ConversionNotPossible, ConversionTime, TrialUsed
from thenga.domains.billing.tables import (
    Interval,
    OfferedPlan,
    Subscription,
    Trial,
    TrialStatus,
)
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day

router = make_router("Billing / Trial")

TrialId = Annotated[UUID, Path(alias="trialId", description="The trial.")]


class StartTrial(Body):
    """Which plan to try."""

    plan_code: Annotated[Code, Field(description="Plan to try.")] = "professional"


class ConvertTrial(Body):
    """How to buy the plan of a trial."""

    interval: Annotated[Interval, Field(description="Billing interval.")]
    when: Annotated[
        ConversionTime,
        Field(
            description="When to buy. `trial_end` uses the remaining days first and needs a "
            "saved payment method."
        ),
    ] = ConversionTime.NOW
    payment_method_id: Annotated[
        UUID | None, Field(description="Saved payment method to charge.")
    ] = None
    provider: Annotated[
        Provider | None,
        Field(description="Or a provider to pay with on its page. Send `returnUrl` with it."),
    ] = None
    return_url: Annotated[
        ReturnUrl | None, Field(description="Page of ours the provider sends the customer back to.")
    ] = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """What happens at the end of a trial, and the VAT rate of its prices."""

    interval: Interval | None
    on_file: bool
    rate_pct: Decimal | None


class TrialView(Stored):
    """A trial in its current state. Nothing is charged at its end unless the customer chose to
    buy."""

    organization_id: OrganizationRef
    plan_code: PlanCodeText
    plan_version: PlanVersionNumber
    subscription_id: SubscriptionRef
    started_at: Annotated[datetime, Field(description="When the trial started.")]
    ends_at: Annotated[datetime, Field(description="When the trial ends, always a local midnight.")]
    notice_at: Annotated[datetime, Field(description="When the customer is reminded that it ends.")]
    status: Annotated[TrialStatus, Field(description="Status now.")]
    ending: Annotated[bool, Field(description="Whether it is in its last three days.")]
    days_left: Annotated[int, Field(description="Days left, counting a started day as whole.")]
    converted_at: Annotated[
        datetime | None, Field(description="When the plan was bought. Null if it was not.")
    ]
    ended_at: Annotated[
        datetime | None, Field(description="When the trial ended. Null while it runs.")
    ]
    conversion: Annotated[list[PriceView], Field(description="Prices of the plan.")]
    chosen_interval: Annotated[
        Interval | None,
        Field(
            description="Interval that is bought at the end of the trial with the saved "
            "payment method. Null if none was chosen."
        ),
    ]
    payment: Annotated[
        PaymentToMake | None,
        Field(description="Payment to complete, only in the response to a conversion."),
    ] = None
    allowed_moves: AllowedMoves

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
            "conversion": [PriceView.of(price, chosen.rate_pct) for price in plan.prices],
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
    """Try a plan in full for fourteen days, once per company and without a card. It ends
    automatically."""
    trial = await trials.start_trial(work, plan_code=body.plan_code)
    return await _view(work, trial)


@router.get("/billing/trials")
async def list_trials(
    read: Annotated[Reader, reads(Permission.TRIAL_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    organization_id: OfOrganization = None,
) -> PageOf[TrialView]:
    """List the organization's trial: one item, or none before it starts."""
    await on_behalf_of(read, organization_id)
    found = await trials.list_trials(read, page)
    shown = {trial.id: await _view(read, trial) for trial in found.items}
    return PageOf[TrialView].of(found, lambda trial: shown[trial.id])


@router.get("/billing/trials/{trialId}")
async def get_trial(
    trial_id: TrialId, read: Annotated[Reader, reads(Permission.TRIAL_READ)]
) -> TrialView:
    """Get a trial: how long it lasts, and what the plan costs."""
    return await _view(read, await read.get(Trial, trial_id))


@router.post(
    "/billing/trials/{trialId}/convert",
    responses=problems(
        *(ConversionNotPossible, PlanNotAvailable, TaxDataMissing, PaymentMethodRequired),
        *(PaymentInProgress, RetryLimit, ProviderNotAllowed, AccountParked, RuleViolated),
        SellerNotSet,
    ),
)
async def convert_trial(
    trial_id: TrialId,
    body: ConvertTrial,
    work: Annotated[Work, writes(Permission.TRIAL_CONVERT)],
) -> TrialView:
    """Buy the plan of a trial, now or when the trial ends.

    If bought now, the paid plan starts today, and the trial ends when the payment succeeds. A
    declined payment changes nothing: the trial continues. If bought for the end of the trial,
    nothing is charged before. When paying with a provider, its page appears in
    `payment.nextAction` once the provider answers: read `payment.path` once a second while
    the payment is `created`.
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
    """End the trial now. A company cannot start a second trial."""
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
