"""Payments: the money of an invoice, collected once, whatever is heard of it and how often."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.billing.api.terms import Rand
from thenga.domains.billing.lifecycles import PaymentLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import payments, settlement
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.services.customer import AccountParked
from thenga.domains.billing.services.payments import (
    PaymentChoice,
    PaymentInProgress,
    PaymentMethodRequired,
    ProviderNotAllowed,
    RetryLimit,
)
from thenga.domains.billing.tables import (
    DisputeStatus,
    Payment,
    PaymentStatus,
    ProviderStatement,
    StatedStatus,
    StatementKind,
    StatementOutcome,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, matching, text
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import CURRENCY_PATTERN, Money

router = make_router("Billing / Payment")

PaymentId = Annotated[UUID, Path(alias="paymentId")]
OfOrganization = Annotated[
    UUID | None,
    Query(alias="organizationId", description="For operators: whose; for others their own."),
]
_CURRENCY = re.compile(CURRENCY_PATTERN)
Provider = Annotated[str, matching("^[a-z]{2,20}$", 20)]
ReturnUrl = Annotated[str, matching("^https?://[!-~]{1,500}$", 510)]
_RETURN = Field(description="Where the customer comes back to; one of our own pages.")
_METHOD = Field(description="A way to pay that is on file.")
_PROVIDER = Field(description="`paystack`, `payfast`, `eft`; in a sandbox `sandbox`.")
FROM = Query(alias="from", description="The first local day.")
TO = Query(alias="to", description="The last local day, counted.")


class Pay(Body):
    """Name a method on file, or a provider on whose page the customer pays."""

    invoice_id: UUID
    payment_method_id: Annotated[UUID | None, _METHOD] = None
    provider: Annotated[Provider | None, _PROVIDER] = None
    return_url: Annotated[ReturnUrl | None, _RETURN] = None


class ConfirmPayment(Body):
    """What the bank statement says."""

    bank_reference: Annotated[
        str, text(1, 100), Field(description="The bank's own; it can confirm one payment.")
    ]
    received_on: Day
    amount: Rand


class ActionField(View):
    name: str
    value: str


class NextActionView(View):
    """What the customer does next: open an address, post a form, or transfer the money."""

    kind: Annotated[
        Literal["redirect", "form_post", "bank_transfer"],
        Field(description="Open `url`, post `fields` to `url`, or transfer by what `fields` say."),
    ]
    url: Annotated[str | None, Field(description="Where the customer goes; null for a transfer.")]
    fields: Annotated[list[ActionField] | None, Field(description="To be posted in this order.")]
    expires_at: Annotated[
        datetime | None, Field(description="Until when it can be done; null is no limit.")
    ]


NEXT_ACTION = Field(description="Null until `status` is `requires_action`, and once it is over.")


class FailureReasonView(View):
    """Why it failed: `hard` is never tried again with this method, `authentication` needs the
    customer, `soft` and `technical` may pass."""

    category: Literal["soft", "hard", "authentication", "technical"]
    code: Annotated[str | None, Field(description="As the bank or the provider writes it.")]
    message: Annotated[str, Field(description="The same for a person, with what would help.")]


class ProviderStatementView(View):
    """One thing that the provider said; `stale` is what was known already or is older."""

    kind: StatementKind
    status: StatedStatus
    outcome: Annotated[
        StatementOutcome, Field(description="What it did: `applied`, or why it did nothing.")
    ]
    source: Annotated[str, Field(description="`callback`, `answer`, `poll` or `operator`.")]
    amount: Annotated[Money | None, Field(description="As the provider states it.")]
    provider_reference: str | None
    provider_at: Annotated[datetime | None, Field(description="By the provider's clock.")]
    heard_at: Annotated[datetime, Field(description="By ours.")]
    callback_id: Annotated[UUID | None, Field(description="The callback that said it.")]
    note: Annotated[str | None, Field(description="Why it was set aside.")]

    @classmethod
    def of(cls, row: ProviderStatement) -> "ProviderStatementView":
        amount = stated(row.amount_minor, row.currency)
        return cls.model_validate(row.__dict__ | {"amount": amount, "heard_at": row.created_at})


def stated(minor: int | None, currency: str | None) -> Money | None:
    """An amount as a provider states it; nothing where it is of no currency that can be."""
    if minor is None or currency is None or not _CURRENCY.fullmatch(currency):
        return None
    return Money(minor, currency)


class PaymentView(Stored):
    """A payment as far as it is known by now."""

    organization_id: UUID
    account_id: UUID
    invoice_id: UUID
    subscription_id: Annotated[
        UUID | None, Field(description="Of what the invoice bills; null where it bills none.")
    ]
    payment_method_id: Annotated[
        UUID | None,
        Field(
            description="The method on file; null where the customer pays on the provider's page."
        ),
    ]
    provider: str
    amount: Annotated[Money, Field(description="What was due when it was begun.")]
    status: PaymentStatus
    reference: Annotated[str, Field(description="Ours, as the provider shows it.")]
    provider_reference: Annotated[str | None, Field(description="The provider's own number of it.")]
    next_action: Annotated[NextActionView | None, NEXT_ACTION]
    attempt: Annotated[
        int, Field(description="Which attempt of a recovery it is; 0 where there is none.")
    ]
    initiated_by: Annotated[
        Literal["customer", "system"],
        Field(description="Whether a person asked for it or its date had come."),
    ]
    failure: Annotated[
        FailureReasonView | None, Field(description="Why it failed; null where it did not.")
    ]
    fee_amount: Annotated[Money, Field(description="What the provider keeps of it.")]
    refunded_amount: Annotated[Money, Field(description="What was paid back of it.")]
    dispute_status: Annotated[
        DisputeStatus, Field(description="Whether the payer's bank has claimed it back.")
    ]
    provider_updated_at: Annotated[
        datetime | None,
        Field(description="When the provider last said something of it, by its clock."),
    ]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"/v1/billing/payments/{self.id}"


class PaymentWhole(PaymentView):
    """A payment with everything that was said of it."""

    statements: list[ProviderStatementView]


def values_of(payment: Payment, now: datetime) -> dict[str, Any]:
    """The fields of a payment as time has made it, before any sweep."""
    over = payments.is_payment_expired(payment, now)
    return payment.__dict__ | {
        "amount": payment.amount,
        "status": PaymentStatus.EXPIRED if over else payment.status,
        "next_action": None if over else payment.next_action,
        "failure": payments.describe_failure(payment.failure),
        "fee_amount": Money(payment.fee_minor, payment.currency),
        "refunded_amount": Money(payment.refunded_minor, payment.currency),
        "allowed_moves": [] if over else PaymentLifecycle.allowed(payment, now),
    }


def view_of(payment: Payment, now: datetime) -> PaymentView:
    return PaymentView.model_validate(values_of(payment, now))


_RUNNING: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The payment of this invoice that runs already, by the same way.",
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
    ),
)
async def pay_invoice(
    body: Pay, work: Annotated[Work, writes(Permission.PAYMENT_CREATE)]
) -> PaymentView | Response:
    """Pay what is due on an invoice. The amount is the invoice's; nobody states it.

    A provider is asked for its page after this answer: while the payment is `created`, read it at
    `Location` once a second until `nextAction` says what to do.
    """
    how = PaymentChoice(body.payment_method_id, body.provider, body.return_url)
    payment, new = await payments.pay_invoice(work, invoice_id=body.invoice_id, how=how)
    view = view_of(payment, work.now)
    return view if new else Response(to_json(view), media_type="application/json")


@router.get("/billing/payments")
async def list_payments(
    read: Annotated[Reader, reads(Permission.PAYMENT_READ)],
    page: Annotated[Paged, paged("createdAt")],
    organization_id: OfOrganization = None,
    status: PaymentStatus | None = None,
    invoice_id: Annotated[UUID | None, Query(alias="invoiceId")] = None,
    provider: Provider | None = None,
    since: Annotated[Day | None, FROM] = None,
    until: Annotated[Day | None, TO] = None,
) -> PageOf[PaymentView]:
    """Every attempt to collect money, with how it ended."""
    await act_for(read, organization_id)
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
    """A payment: what the customer does next, and what the provider said of it."""
    payment = await read.get(Payment, payment_id)
    said = await payments.reports_of(read, payment.id)
    values = values_of(payment, read.now) | {
        "statements": [ProviderStatementView.of(one) for one in said]
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
    """Say that a bank transfer is on the account. Operators of the platform do this."""
    payment = await settlement.confirm_transfer(
        work,
        payment_id,
        bank_reference=body.bank_reference,
        received_on=body.received_on,
        amount=body.amount.money,
    )
    return view_of(payment, work.now)
