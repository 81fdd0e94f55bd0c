"""Payments: each invoice is collected once, however often a provider reports on it."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.billing.api.catalogue.terms import Rand
from thenga.domains.billing.api.common_fields import (
    AccountRef,
    AllowedMoves,
    OrganizationRef,
    ProviderName,
)
from thenga.domains.billing.lifecycles import PaymentLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import payments, settlement
from thenga.domains.billing.services.customer import AccountParked
from thenga.domains.billing.services.invoicing import SellerNotSet
from thenga.domains.billing.services.payments import (
    PaymentChoice,
    PaymentInProgress,
    PaymentMethodRequired,
    ProviderNotAllowed,
    RetryLimit,
)
from thenga.domains.billing.tables import (
    Decline,
    DisputeStatus,
    Payment,
    PaymentStatus,
    ProviderStatement,
    StatementOutcome,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
    StatementKind,
)
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, matching, text
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import CURRENCY_PATTERN, Money

router = make_router("Billing / Payment")

PaymentId = Annotated[UUID, Path(alias="paymentId", description="The payment.")]
_CURRENCY = re.compile(CURRENCY_PATTERN)
Provider = Annotated[str, matching("^[a-z]{2,20}$", 20)]
ReturnUrl = Annotated[str, matching("^https?://[!-~]{1,500}$", 510)]
_RETURN = Field(description="Page of ours the customer returns to.")
_METHOD = Field(description="Saved payment method to charge.")
_PROVIDER = Field(
    description="Provider to pay with: `paystack`, `payfast` or `eft`; `sandbox` in a sandbox."
)
FROM = Query(alias="from", description="First local day.")
TO = Query(alias="to", description="Last local day, inclusive.")


class Pay(Body):
    """Pay with a saved payment method, or on a provider's page."""

    invoice_id: Annotated[UUID, Field(description="Invoice to pay.")]
    payment_method_id: Annotated[UUID | None, _METHOD] = None
    provider: Annotated[Provider | None, _PROVIDER] = None
    return_url: Annotated[ReturnUrl | None, _RETURN] = None


class ConfirmPayment(Body):
    """The transfer as it appears on the bank statement."""

    bank_reference: Annotated[
        str,
        text(1, 100),
        Field(description="The bank's reference of the transfer. Each confirms one payment only."),
    ]
    received_on: Annotated[Day, Field(description="Day the money arrived.")]
    amount: Annotated[Rand, Field(description="Amount received.")]


class ActionField(View):
    """One form field or transfer detail."""

    name: Annotated[str, Field(description="Name of the field.")]
    value: Annotated[str, Field(description="Value of the field.")]


class NextActionView(View):
    """What the customer does next: open a page, post a form or make a transfer."""

    kind: Annotated[
        Literal["redirect", "form_post", "bank_transfer"],
        Field(
            description="Open `url`, post `fields` to `url`, or transfer with the details in "
            "`fields`."
        ),
    ]
    url: Annotated[str | None, Field(description="Page to open or post to. Null for a transfer.")]
    fields: Annotated[
        list[ActionField] | None,
        Field(description="Form fields to post in this order, or transfer details."),
    ]
    expires_at: Annotated[
        datetime | None, Field(description="Until when it can be done. Null means no limit.")
    ]


NEXT_ACTION = Field(
    description="What the customer does next. Set only while `status` is `requires_action`."
)


class FailureReasonView(View):
    """Why a payment failed. `hard` is never retried with the same method, `authentication` needs
    the customer, `soft` and `technical` may succeed later."""

    category: Annotated[
        Literal["soft", "hard", "authentication", "technical"],
        Field(description="Decline category."),
    ]
    code: Annotated[str | None, Field(description="Decline code from the bank or provider.")]
    message: Annotated[str, Field(description="What went wrong and what to do, for the customer.")]

    @classmethod
    def of(cls, decline: Decline) -> "FailureReasonView":
        return cls(
            category=decline.category.value,
            code=decline.code,
            message=payments.describe_decline(decline),
        )


class ProviderStatementView(View):
    """One report from the provider. `stale` means it was already known or is out of date."""

    kind: Annotated[StatementKind, Field(description="What the report is about.")]
    status: Annotated[StatedStatus, Field(description="Status the provider reported.")]
    outcome: Annotated[
        StatementOutcome,
        Field(description="What the report did: `applied`, or why it changed nothing."),
    ]
    source: Annotated[
        str, Field(description="How it arrived: `callback`, `answer`, `poll` or `operator`.")
    ]
    amount: Annotated[Money | None, Field(description="Amount the provider stated.")]
    provider_reference: Annotated[str | None, Field(description="The provider's reference.")]
    provider_at: Annotated[
        datetime | None, Field(description="When it happened, by the provider's clock.")
    ]
    heard_at: Annotated[datetime, Field(description="When we received it.")]
    callback_id: Annotated[
        UUID | None, Field(description="Callback that carried it. Null if it came another way.")
    ]
    note: Annotated[str | None, Field(description="Why it was quarantined.")]

    @classmethod
    def of(cls, row: ProviderStatement) -> "ProviderStatementView":
        amount = stated(row.amount_minor, row.currency)
        return cls.model_validate(row.__dict__ | {"amount": amount, "heard_at": row.created_at})


def stated(minor: int | None, currency: str | None) -> Money | None:
    """The amount a provider states. None if its currency is not a valid code."""
    if minor is None or currency is None or not _CURRENCY.fullmatch(currency):
        return None
    return Money(minor, currency)


class PaymentView(Stored):
    """One attempt to pay an invoice, in its current state."""

    organization_id: OrganizationRef
    account_id: AccountRef
    invoice_id: Annotated[UUID, Field(description="Invoice it pays.")]
    subscription_id: Annotated[
        UUID | None,
        Field(description="Subscription the invoice charges for. Null if it charges for none."),
    ]
    payment_method_id: Annotated[
        UUID | None,
        Field(
            description="Saved payment method that is charged. Null if the customer pays on "
            "the provider's page."
        ),
    ]
    provider: ProviderName
    amount: Annotated[Money, Field(description="Amount due when the payment was started.")]
    status: Annotated[PaymentStatus, Field(description="Status of the payment.")]
    reference: Annotated[str, Field(description="Our reference, as the provider shows it.")]
    provider_reference: Annotated[str | None, Field(description="The provider's reference.")]
    next_action: Annotated[NextActionView | None, NEXT_ACTION]
    attempt: Annotated[
        int, Field(description="Number of the recovery attempt. 0 if it is not part of a recovery.")
    ]
    initiated_by: Annotated[
        Literal["customer", "system"],
        Field(description="Whether a person or the schedule started it."),
    ]
    failure: Annotated[
        FailureReasonView | None, Field(description="Why it failed. Null if it did not.")
    ]
    fee_amount: Annotated[Money, Field(description="Fee the provider keeps.")]
    refunded_amount: Annotated[Money, Field(description="Amount refunded.")]
    dispute_status: Annotated[
        DisputeStatus, Field(description="Whether the payer's bank disputes it.")
    ]
    provider_updated_at: Annotated[
        datetime | None,
        Field(description="Time of the provider's latest report, by its clock."),
    ]
    allowed_moves: AllowedMoves

    @property
    def own_path(self) -> str:
        return f"/v1/billing/payments/{self.id}"


class PaymentWhole(PaymentView):
    """A payment with every report from its provider."""

    statements: Annotated[
        list[ProviderStatementView], Field(description="Reports from the provider, oldest first.")
    ]


def values_of(payment: Payment, now: datetime) -> dict[str, Any]:
    """The fields of a payment as of now, even before the next sweep."""
    over, decline = payments.is_payment_expired(payment, now), payment.decline
    return payment.__dict__ | {
        "amount": payment.amount,
        "status": PaymentStatus.EXPIRED if over else payment.status,
        "next_action": None if over else payment.next_action,
        "failure": None if decline is None else FailureReasonView.of(decline),
        "fee_amount": Money(payment.fee_minor, payment.currency),
        "refunded_amount": Money(payment.refunded_minor, payment.currency),
        "allowed_moves": [] if over else PaymentLifecycle.allowed(payment, now),
    }


def view_of(payment: Payment, now: datetime) -> PaymentView:
    return PaymentView.model_validate(values_of(payment, now))


_RUNNING: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The payment already in progress for this invoice, made the same way.",
        "model": PaymentView,
    }
}


@router.post(
    "/billing/payments",
    status_code=201,
    response_model=PaymentView,
    responses=_RUNNING
    | problems(
        PaymentInProgress,
        RetryLimit,
        InvalidTransition,
        AccountParked,
        ProviderNotAllowed,
        PaymentMethodRequired,
        RuleViolated,
        SellerNotSet,
    ),
)
async def pay_invoice(
    body: Pay, work: Annotated[Work, writes(Permission.PAYMENT_CREATE)]
) -> PaymentView | Response:
    """Pay the amount due on an invoice. The amount is taken from the invoice.

    The provider's page is requested after this response: while the payment is `created`, read
    it at `Location` once a second until `nextAction` is set.
    """
    how = PaymentChoice(body.payment_method_id, body.provider, body.return_url)
    payment, new = await payments.pay_invoice(work, invoice_id=body.invoice_id, how=how)
    view = view_of(payment, work.now)
    return view if new else Response(to_json(view), media_type="application/json")


@router.get("/billing/payments")
async def list_payments(
    read: Annotated[Reader, reads(Permission.PAYMENT_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    organization_id: OfOrganization = None,
    status: Annotated[PaymentStatus | None, Query(description="Filter by status.")] = None,
    invoice_id: Annotated[
        UUID | None, Query(alias="invoiceId", description="Filter by invoice.")
    ] = None,
    provider: Annotated[Provider | None, Query(description="Filter by provider.")] = None,
    since: Annotated[Day | None, FROM] = None,
    until: Annotated[Day | None, TO] = None,
) -> PageOf[PaymentView]:
    """List payments and their results, including failed ones."""
    await on_behalf_of(read, organization_id)
    found = await payments.list_payments(
        read,
        page,
        status=status,
        invoice_id=invoice_id,
        provider=provider,
        since=since,
        until=until,
    )
    return PageOf[PaymentView].of(found, lambda payment: view_of(payment, read.now))


@router.get("/billing/payments/{paymentId}")
async def get_payment(
    payment_id: PaymentId, read: Annotated[Reader, reads(Permission.PAYMENT_READ)]
) -> PaymentWhole:
    """Get a payment: what the customer does next, and what the provider reported."""
    payment = await read.get(Payment, payment_id)
    reports = await payments.reports_of(read, payment.id)
    values = values_of(payment, read.now) | {
        "statements": [ProviderStatementView.of(report) for report in reports]
    }
    return PaymentWhole.model_validate(values)


@router.post(
    "/billing/payments/{paymentId}/confirm",
    responses=problems(InvalidTransition, Duplicate, RuleViolated),
)
async def confirm_payment(
    payment_id: PaymentId,
    body: ConfirmPayment,
    work: Annotated[Work, writes(Permission.PAYMENT_CONFIRM)],
) -> PaymentView:
    """Confirm that a bank transfer arrived. Operators only."""
    payment = await settlement.confirm_transfer(
        work,
        payment_id,
        bank_reference=body.bank_reference,
        received_on=body.received_on,
        amount=body.amount.money,
    )
    return view_of(payment, work.now)
