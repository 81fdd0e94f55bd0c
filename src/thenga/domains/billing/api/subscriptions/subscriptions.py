"""Subscriptions: buy, read, pause and resume a plan."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.billing.api.catalogue.plans import Code
from thenga.domains.billing.api.common_fields import SubscriptionId
from thenga.domains.billing.api.payments.payments import NEXT_ACTION, NextActionView
from thenga.domains.billing.api.subscriptions.subscription_views import SubscriptionView, view
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import subscriptions
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
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, matching
from thenga.kernel.values.money import Money

router = make_router("Billing / Subscription")

Provider = Annotated[str, matching("^[a-z]{2,20}$", 20)]
ReturnUrl = Annotated[str, matching("^https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]{1,490}$", 500)]


class BuyPlan(Body):
    """The plan to buy, paid with a saved method or on a provider's page."""

    plan_code: Annotated[Code, Field(description="Plan to buy. The version on sale today is used.")]
    interval: Annotated[Interval, Field(description="Billing interval.")]
    payment_method_id: Annotated[
        UUID | None, Field(description="Saved payment method to charge.")
    ] = None
    provider: Annotated[
        Provider | None, Field(description="Or a provider, whose page is returned in `nextAction`.")
    ] = None
    return_url: Annotated[
        ReturnUrl | None, Field(description="Page of ours the provider sends the customer back to.")
    ] = None


class PauseSubscription(Body):
    """How long to pause."""

    resume_on: Annotated[
        Day | None,
        Field(description="Day to resume automatically. Defaults to the longest pause allowed."),
    ] = None


class PaymentToMake(View):
    """The first payment of the plan. The provider's page is requested after this response: while
    `status` is `created`, read `path` once a second until `nextAction` is set."""

    id: Annotated[UUID, Field(description="The payment.")]
    path: Annotated[str, Field(description="Path to read the payment again.")]
    status: Annotated[PaymentStatus, Field(description="Status of the payment.")]
    amount: Annotated[Money, Field(description="Amount to pay.")]
    next_action: Annotated[NextActionView | None, NEXT_ACTION]

    @classmethod
    def of(cls, payment: Payment) -> "PaymentToMake":
        return cls.model_validate(
            payment.__dict__
            | {"path": f"{PREFIX}/billing/payments/{payment.id}", "amount": payment.amount}
        )


class BoughtView(SubscriptionView):
    """The new subscription and the payment that activates it."""

    invoice_id: Annotated[
        UUID | None, Field(description="Draft invoice. Null if nothing is charged.")
    ]
    payment: Annotated[
        PaymentToMake | None, Field(description="Payment to complete. Null if nothing is due.")
    ]

    @classmethod
    async def read_of(cls, work: Work, bought: Purchase) -> "BoughtView":
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
        *(PaymentMethodRequired, RetryLimit, RuleViolated, InvalidTransition, SellerNotSet),
    ),
)
async def buy_subscription(
    body: BuyPlan, work: Annotated[Work, writes(Permission.SUBSCRIPTION_CREATE)]
) -> BoughtView:
    """Buy a plan. It starts when the first payment succeeds, or at once if nothing is due.

    When paying with a provider, its page appears in `payment.nextAction` once the provider
    answers: read `payment.path` once a second while the payment is `created`.

    A purchase that is not paid within 23 hours expires and leaves no document; by bank transfer
    it waits 14 days, and starts on the day the transfer is confirmed. A new purchase replaces it.
    """
    how = PaymentChoice(body.payment_method_id, body.provider, body.return_url)
    bought = await subscriptions.buy_plan(
        work, plan_code=body.plan_code, interval=body.interval, how=how
    )
    return await BoughtView.read_of(work, bought)


@router.get("/billing/subscriptions")
async def list_subscriptions(
    read: Annotated[Reader, reads(Permission.SUBSCRIPTION_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    status: Annotated[
        SubscriptionStatus | None, Query(description="Filter by stored status.")
    ] = None,
    plan_code: Annotated[
        Code | None, Query(alias="planCode", description="Filter by plan.")
    ] = None,
    kind: Annotated[PlanKind | None, Query(description="Filter by kind.")] = None,
    organization_id: OfOrganization = None,
) -> PageOf[SubscriptionView]:
    """List the organization's subscriptions, including ended ones."""
    await on_behalf_of(read, organization_id)
    found = await subscriptions.list_subscriptions(
        read, page, status=status, plan_code=plan_code, kind=kind
    )
    shown = {row.id: await view(read, row) for row in found.items}
    return PageOf[SubscriptionView].of(found, lambda row: shown[row.id])


@router.get("/billing/subscriptions/{subscriptionId}")
async def get_subscription(
    subscription_id: SubscriptionId,
    read: Annotated[Reader, reads(Permission.SUBSCRIPTION_READ)],
) -> SubscriptionView:
    """Get a subscription: its paid period, what it allows now, and what is next."""
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
    """Pause at the end of today. Nothing is charged or refunded: the unused days are kept for
    later.

    While paused, everything can be read. It resumes automatically, and the customer is
    notified before.
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
    """Resume today. The paid period is extended by the days that were left."""
    held = await subscriptions.lock_subscription(work, subscription_id)
    return await view(
        work, await subscriptions.resume_subscription(work, held, on=local_day(work.now))
    )
