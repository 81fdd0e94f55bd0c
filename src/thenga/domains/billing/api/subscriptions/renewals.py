"""Renewals: the next renewal, its invoice, and what blocks it."""

from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.domains.billing import settings
from thenga.domains.billing.api.common_fields import (
    PlanCodeText,
    PlanVersionNumber,
    ProviderName,
    SubscriptionId,
    SubscriptionRef,
)
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import pricing, subscriptions
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.invoicing import DraftLine
from thenga.domains.billing.services.subscriptions import NextInvoice, RenewalForecast, RenewalState
from thenga.domains.billing.tables import (
    Interval,
    LineKind,
    MethodKind,
    PaymentMethod,
    Subscription,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.money import Money

router = make_router("Billing / Renewal")


class UpcomingLineView(View):
    """One line of the next invoice."""

    kind: Annotated[LineKind, Field(description="What the line charges for.")]
    description: Annotated[str, Field(description="Text printed on the invoice.")]
    quantity: Annotated[int, Field(description="Number of units.")]
    gross: Annotated[Money, Field(description="Line total, VAT included.")]
    service_from: Annotated[date | None, Field(description="First day of service.")]
    service_to: Annotated[date | None, Field(description="Day after the last day of service.")]
    plan_code: Annotated[str | None, Field(description="Code of the plan it charges for.")]
    plan_version: Annotated[int | None, Field(description="Version of that plan.")]

    @classmethod
    def of(cls, line: DraftLine) -> "UpcomingLineView":
        return cls(
            kind=line.kind,
            description=line.description,
            quantity=line.quantity,
            gross=line.gross,
            service_from=line.service.start if line.service else None,
            service_to=line.service.end if line.service else None,
            plan_code=line.plan_code,
            plan_version=line.plan_version,
        )


class MethodOnFileView(View):
    """The payment method that will be charged."""

    id: Annotated[UUID, Field(description="The payment method.")]
    provider: ProviderName
    kind: Annotated[MethodKind, Field(description="Card, bank account or EFT.")]
    brand: Annotated[str | None, Field(description="Card brand.")]
    last4: Annotated[str | None, Field(description="Last four digits.")]
    expires_on: Annotated[date | None, Field(description="Last day it can be charged.")]

    @classmethod
    def of(cls, method: PaymentMethod) -> "MethodOnFileView":
        return cls.model_validate(method)


class RenewalView(View):
    """The next renewal of a subscription."""

    subscription_id: SubscriptionRef
    state: Annotated[
        RenewalState,
        Field(
            description="State of the renewal. `not_renewing` means cancelled, `failed` means "
            "in recovery."
        ),
    ]
    renews_on: Annotated[
        date | None,
        Field(description="Local day the next period starts. Null if it does not renew."),
    ]
    renews_at: Annotated[
        datetime | None, Field(description="Local midnight at the start of `renewsOn`.")
    ]
    lines: Annotated[list[UpcomingLineView], Field(description="Lines of the next invoice.")]
    gross: Annotated[Money | None, Field(description="Total of the lines, VAT included.")]
    credit_to_apply: Annotated[Money | None, Field(description="Account credit that will be used.")]
    amount_to_charge: Annotated[Money | None, Field(description="Amount that will be charged.")]
    payment_method: Annotated[
        MethodOnFileView | None,
        Field(description="Payment method that will be charged. Null if none is saved."),
    ]
    invoice_id: Annotated[
        UUID | None,
        Field(description="Invoice of the current period. Null before the first renewal."),
    ]
    blockers: Annotated[
        list[str],
        Field(description="Reasons the renewal cannot be charged. Empty if there are none."),
    ]
    notice_sent_at: Annotated[
        datetime | None, Field(description="When the customer was notified. Null until then.")
    ]

    @classmethod
    def of(cls, seen: RenewalForecast) -> "RenewalView":
        wanted, goes_on = seen.expected, seen.state is not RenewalState.NOT_RENEWING
        shown = wanted if goes_on else None
        return cls(
            subscription_id=seen.subscription.id,
            state=seen.state,
            renews_on=shown.period.start if shown else None,
            renews_at=local_midnight(shown.period.start) if shown else None,
            lines=[UpcomingLineView.of(line) for line in shown.lines] if shown else [],
            gross=shown.gross if shown else None,
            credit_to_apply=shown.credit if shown else None,
            amount_to_charge=shown.due if shown else None,
            payment_method=MethodOnFileView.of(shown.method) if shown and shown.method else None,
            invoice_id=seen.last.invoice_id if seen.last else None,
            blockers=seen.blockers,
            notice_sent_at=seen.next.notice_sent_at if seen.next else None,
        )


class UpcomingInvoiceView(View):
    """The next invoice, exact to the cent if nothing changes before it is issued."""

    subscription_id: SubscriptionRef
    issue_date: Annotated[date, Field(description="Local day it will be issued.")]
    period_start: Annotated[date, Field(description="First day of the period.")]
    period_end: Annotated[date, Field(description="Day after the last day of the period.")]
    plan_code: PlanCodeText
    plan_version: PlanVersionNumber
    interval: Annotated[Interval, Field(description="Billing interval.")]
    lines: Annotated[list[UpcomingLineView], Field(description="Lines of the invoice.")]
    net: Annotated[Money, Field(description="Total without VAT.")]
    vat: Annotated[Money, Field(description="VAT included in `gross`.")]
    gross: Annotated[Money, Field(description="Total of the lines, VAT included.")]
    credit_to_apply: Annotated[Money, Field(description="Account credit that will be used.")]
    amount_due: Annotated[Money, Field(description="Amount left to pay.")]


@router.get("/billing/subscriptions/{subscriptionId}/renewal")
async def get_renewal(
    subscription_id: SubscriptionId, read: Annotated[Reader, reads(Permission.RENEWAL_READ)]
) -> RenewalView:
    """Get when the subscription renews, what it costs, and what blocks it."""
    row = await _current(read, subscription_id)
    return RenewalView.of(await subscriptions.forecast(read, row, subscriptions.as_renewed(row)))


@router.get(
    "/billing/subscriptions/{subscriptionId}/upcoming-invoice",
    responses=problems(InvalidTransition, PlanNotAvailable),
)
async def get_upcoming_invoice(
    subscription_id: SubscriptionId, read: Annotated[Reader, reads(Permission.SUBSCRIPTION_READ)]
) -> UpcomingInvoiceView:
    """Get the next invoice to the cent, including usage above the plan so far."""
    subscription = subscriptions.as_renewed(await _current(read, subscription_id))
    if not subscriptions.renews(subscription):
        raise not_possible(
            "This subscription has no upcoming invoice: it does not renew, or its first payment is "
            "still open. Buy or pay for a plan to see the next invoice.",
            status=subscription.status,
            operation="upcoming-invoice",
            allowed=[],
        )
    return await _invoice(read, subscription, await subscriptions.next_invoice(read, subscription))


async def _current(read: Reader, subscription_id: UUID) -> Subscription:
    """The subscription as of now, even before the next sweep."""
    return (await subscriptions.as_of_now(read, await read.get(Subscription, subscription_id))).row


async def _invoice(
    read: Reader, subscription: Subscription, wanted: NextInvoice
) -> UpcomingInvoiceView:
    seller_code = await configuration.value(read, settings.SELLER)
    seller = await pricing.seller_on(read, seller_code, wanted.period.start)
    taxed = pricing.split_vat(
        wanted.gross, await pricing.seller_vat_rate(read, seller, wanted.period.start)
    )
    return UpcomingInvoiceView(
        subscription_id=subscription.id,
        issue_date=wanted.period.start,
        period_start=wanted.period.start,
        period_end=wanted.period.end,
        plan_code=wanted.plan.plan_code,
        plan_version=wanted.plan.plan_version,
        interval=wanted.interval,
        lines=[UpcomingLineView.of(line) for line in wanted.lines],
        net=taxed.net,
        vat=taxed.vat,
        gross=wanted.gross,
        credit_to_apply=wanted.credit,
        amount_due=wanted.due,
    )
