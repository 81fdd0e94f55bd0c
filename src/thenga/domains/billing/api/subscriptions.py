"""Subscriptions: buying a plan, reading what one has, pausing it for a while."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.accounts import OfOrganization
from thenga.domains.billing.api.payments import NEXT_ACTION, NextActionView
from thenga.domains.billing.api.plans import Code
from thenga.domains.billing.api.subscription_views import SubscriptionView, view
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import subscriptions
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
from thenga.domains.billing.services.plan_changes import PaymentOverdue
from thenga.domains.billing.services.subscriptions import PauseLimit, Purchase
from thenga.domains.billing.tables import (
    Interval,
    Payment,
    PaymentStatus,
    PlanKind,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.operations import PREFIX
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, matching
from thenga.kernel.values.money import Money

router = make_router("Billing / Subscription")

SubscriptionId = Annotated[UUID, Path(alias="subscriptionId")]
Provider = Annotated[str, matching("^[a-z]{2,20}$", 20)]
ReturnUrl = Annotated[str, matching("^https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]{1,490}$", 500)]


class BuyPlan(Body):
    """A plan and how it is paid: with a method on file, or at a provider's own page."""

    plan_code: Annotated[Code, Field(description="The plan to buy, in its version of today.")]
    interval: Interval
    payment_method_id: Annotated[UUID | None, Field(description="A method on file.")] = None
    provider: Annotated[
        Provider | None, Field(description="Or a provider, whose page comes in `nextAction`.")
    ] = None
    return_url: Annotated[
        ReturnUrl | None, Field(description="Where the provider sends the payer back to.")
    ] = None


class PauseSubscription(Body):
    resume_on: Annotated[
        Day | None, Field(description="The day to resume by itself; the longest if left out.")
    ] = None


class PaymentToMake(View):
    """The payment that starts the plan. A provider is asked for its page after this answer: while
    `status` is `created`, read `path` once a second until it says what to do next."""

    id: UUID
    path: Annotated[str, Field(description="Where the payment is read again.")]
    status: PaymentStatus
    amount: Money
    next_action: Annotated[NextActionView | None, NEXT_ACTION]

    @classmethod
    def of(cls, payment: Payment) -> "PaymentToMake":
        return cls.model_validate(
            payment.__dict__
            | {"path": f"{PREFIX}/billing/payments/{payment.id}", "amount": payment.amount}
        )


class BoughtView(SubscriptionView):
    """What was bought, and what must be paid for it to begin."""

    invoice_id: Annotated[UUID | None, Field(description="None where nothing is charged.")]
    payment: Annotated[PaymentToMake | None, Field(description="None where nothing is due.")]

    @classmethod
    async def of(cls, work: Work, bought: Purchase) -> "BoughtView":
        seen = await subscriptions.as_of_now(work, bought.subscription)
        paid = {
            "invoice_id": bought.invoice and bought.invoice.id,
            "payment": bought.payment and PaymentToMake.of(bought.payment),
        }
        return cls.shown(cls.values(seen, work.now) | paid)


@router.post(
    "/billing/subscriptions",
    status_code=201,
    responses=problems(
        *(Duplicate, AccountParked, PlanNotAvailable, TaxDataMissing, ProviderNotAllowed),
        *(PaymentMethodRequired, RetryLimit, RuleViolated, InvalidTransition),
    ),
)
async def buy_subscription(
    body: BuyPlan, work: Annotated[Work, writes(Permission.SUBSCRIPTION_CREATE)]
) -> BoughtView:
    """Buy a plan. It begins when its first payment is made, or at once where nothing is due.

    Paid at a provider, the page is in `payment.nextAction` as soon as the provider has answered:
    read `payment.path` once a second while the payment is `created`.

    Not paid within 23 hours it falls away and leaves no document; a new purchase takes its place.
    """
    how = PaymentChoice(body.payment_method_id, body.provider, body.return_url)
    bought = await subscriptions.buy_plan(
        work, plan_code=body.plan_code, interval=body.interval, how=how
    )
    return await BoughtView.of(work, bought)


@router.get("/billing/subscriptions")
async def list_subscriptions(
    read: Annotated[Reader, reads(Permission.SUBSCRIPTION_READ)],
    page: Annotated[Paged, paged("createdAt")],
    status: Annotated[
        SubscriptionStatus | None, Query(description="As it was last written down.")
    ] = None,
    plan_code: Annotated[Code | None, Query(alias="planCode")] = None,
    kind: Annotated[PlanKind | None, Query()] = None,
    organization_id: OfOrganization = None,
) -> PageOf[SubscriptionView]:
    """The subscriptions of the organization, those that are over as well."""
    await act_for(read, organization_id)
    found = await subscriptions.list_subscriptions(
        read, page, status=status, plan_code=plan_code, kind=kind
    )
    shown = {one.id: await view(read, one) for one in found.items}
    return PageOf[SubscriptionView].of(found, lambda one: shown[one.id])


@router.get("/billing/subscriptions/{subscriptionId}")
async def get_subscription(
    subscription_id: SubscriptionId,
    read: Annotated[Reader, reads(Permission.SUBSCRIPTION_READ)],
) -> SubscriptionView:
    """One subscription: what is paid until when, what it allows now, and what comes next."""
    return await view(read, await read.get(Subscription, subscription_id))


@router.post(
    "/billing/subscriptions/{subscriptionId}/pause",
    responses=problems(
        InvalidTransition, PauseLimit, PaymentInProgress, PaymentOverdue, AccountParked
    ),
)
async def pause_subscription(
    subscription_id: SubscriptionId,
    body: PauseSubscription,
    work: Annotated[Work, writes(Permission.SUBSCRIPTION_CHANGE)],
) -> SubscriptionView:
    """Pause when this day is over. No money moves: the days that are left wait for the resume.

    While it is paused everything can be read. It resumes by itself, and you are told before.
    """
    held = await subscriptions.lock_subscription(work, subscription_id)
    return await view(
        work, await subscriptions.pause_subscription(work, held, resume_on=body.resume_on)
    )


@router.post(
    "/billing/subscriptions/{subscriptionId}/resume", responses=problems(InvalidTransition)
)
async def resume_subscription(
    subscription_id: SubscriptionId,
    work: Annotated[Work, writes(Permission.SUBSCRIPTION_CHANGE)],
) -> SubscriptionView:
    """Go on today; the paid period ends as many days later as were left."""
    held = await subscriptions.lock_subscription(work, subscription_id)
    return await view(
        work, await subscriptions.resume_subscription(work, held, on=local_day(work.now))
    )
