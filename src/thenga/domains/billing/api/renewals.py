"""What is renewed next: the date, the lines, the credit, the rest, and what stands in its way."""

from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import catalogue, pricing, subscriptions
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
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

router = make_router("Billing / Renewal")

SubscriptionId = Annotated[UUID, Path(alias="subscriptionId")]


class UpcomingLineView(View):
    """One line as the next invoice would have it."""

    kind: LineKind
    description: str
    quantity: int
    gross: Annotated[Money, Field(description="VAT included.")]
    service_from: Annotated[date | None, Field(description="The first day that is served.")]
    service_to: Annotated[date | None, Field(description="The first day that is not served.")]
    plan_code: str | None
    plan_version: int | None

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
    """The method that will be charged."""

    id: UUID
    provider: str
    kind: MethodKind
    brand: str | None
    last4: str | None
    expires_on: date | None

    @classmethod
    def of(cls, method: PaymentMethod) -> "MethodOnFileView":
        return cls.model_validate(method)


class RenewalView(View):
    """The next renewal, as time has made it by now."""

    subscription_id: UUID
    state: Annotated[
        RenewalState, Field(description="`not_renewing` is cancelled, `failed` is in recovery.")
    ]
    renews_on: Annotated[
        date | None,
        Field(description="The local day on which the next period begins; null where none does."),
    ]
    renews_at: Annotated[datetime | None, Field(description="Local midnight of `renewsOn`.")]
    lines: Annotated[list[UpcomingLineView], Field(description="What the next invoice would say.")]
    gross: Annotated[Money | None, Field(description="The sum of the lines, VAT included.")]
    credit_to_apply: Annotated[
        Money | None, Field(description="What the account's credit pays of it.")
    ]
    amount_to_charge: Annotated[Money | None, Field(description="What is left to be charged.")]
    payment_method: Annotated[
        MethodOnFileView | None, Field(description="What is charged; null where none is on file.")
    ]
    invoice_id: Annotated[
        UUID | None, Field(description="The invoice of the period that runs, if it was renewed.")
    ]
    blockers: Annotated[list[str], Field(description="What stands in its way; mostly nothing.")]
    notice_sent_at: Annotated[
        datetime | None, Field(description="When the customer was told of it.")
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
    """The next document to the cent, if nothing changes until then."""

    subscription_id: UUID
    issue_date: Annotated[date, Field(description="The local day on which it is made out.")]
    period_start: date
    period_end: Annotated[date, Field(description="The first day that does not belong to it.")]
    plan_code: str
    plan_version: int
    interval: Interval
    lines: list[UpcomingLineView]
    net: Annotated[Money, Field(description="Without VAT.")]
    vat: Annotated[Money, Field(description="The VAT that is in `gross`.")]
    gross: Annotated[Money, Field(description="The sum of the lines, VAT included.")]
    credit_to_apply: Annotated[Money, Field(description="What the account's credit pays of it.")]
    amount_due: Annotated[Money, Field(description="What is left to be paid.")]


@router.get("/billing/subscriptions/{subscriptionId}/renewal")
async def get_renewal(
    subscription_id: SubscriptionId, read: Annotated[Reader, reads(Permission.RENEWAL_READ)]
) -> RenewalView:
    """When the subscription renews, what that costs, and what stands in its way."""
    row = await _seen(read, subscription_id)
    return RenewalView.of(await subscriptions.forecast(read, row, subscriptions.as_renewed(row)))


@router.get(
    "/billing/subscriptions/{subscriptionId}/upcoming-invoice",
    responses=problems(InvalidTransition, PlanNotAvailable),
)
async def get_upcoming_invoice(
    subscription_id: SubscriptionId, read: Annotated[Reader, reads(Permission.SUBSCRIPTION_READ)]
) -> UpcomingInvoiceView:
    """The next invoice to the cent, with what was used beyond the plan until now."""
    subscription = subscriptions.as_renewed(await _seen(read, subscription_id))
    if not subscriptions.renews(subscription):
        raise not_possible(
            "Nothing is billed next: this subscription does not renew, or is not paid yet.",
            status=subscription.status,
            operation="upcoming-invoice",
            allowed=[],
        )
    return await _invoice(read, subscription, await subscriptions.next_invoice(read, subscription))


async def _seen(read: Reader, subscription_id: UUID) -> Subscription:
    """As time has made it by now, before any sweep."""
    return (await subscriptions.as_of_now(read, await read.get(Subscription, subscription_id))).row


async def _invoice(
    read: Reader, subscription: Subscription, wanted: NextInvoice
) -> UpcomingInvoiceView:
    seller_code = await catalogue.setting(read, "billing.seller", local_day(read.now))
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
