"""What Billing tells of money that came, went back, or does not fit."""

from datetime import date
from typing import Literal
from uuid import UUID

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money

Finding = Literal[
    "unknown_reference",
    "amount_differs",
    "currency_differs",
    "refund_exceeds",
    "more_than_due",
    "paid_twice",
    "no_answer",
    "not_confirmed",
]


class PaymentSucceeded(Event, type="billing.PaymentSucceeded.v1", subject="payment_id"):
    """The money of an invoice came; told once, however often the provider says it."""

    organization_id: UUID
    payment_id: UUID
    invoice_id: UUID
    subscription_id: UUID | None
    amount: Money
    failure_id: UUID | None = None


class RefundSucceeded(Event, type="billing.RefundSucceeded.v1", subject="refund_id"):
    """Money went back to the customer."""

    organization_id: UUID
    refund_id: UUID
    payment_id: UUID
    amount: Money


class PaymentDisputed(Event, type="billing.PaymentDisputed.v1", subject="payment_id"):
    """The holder of the card disputes a payment, or the dispute is decided."""

    organization_id: UUID
    payment_id: UUID
    invoice_id: UUID
    subscription_id: UUID | None
    amount: Money
    outcome: Literal["open", "won", "lost"]


class PaymentMismatchFound(
    Event, type="billing.PaymentMismatchFound.v1", subject="source_id", resource="source"
):
    """What a provider says does not fit what we know; somebody must look (BIL-33, BIL-36).

    `source` says of what `source_id` is the identifier.
    """

    organization_id: UUID | None
    source: Literal["payment", "refund", "providerStatement", "providerCallback"]
    source_id: UUID
    provider: str
    finding: Finding
    payment_id: UUID | None = None
    expected: Money | None = None
    stated: Money | None = None


class PaymentMethodExpiring(
    Event, type="billing.PaymentMethodExpiring.v1", subject="payment_method_id"
):
    """A card that is charged next is good for thirty days more at most; told once (BIL-40)."""

    organization_id: UUID
    payment_method_id: UUID
    provider: str
    last4: str | None
    expires_on: date


EVENTS = (
    PaymentSucceeded,
    RefundSucceeded,
    PaymentDisputed,
    PaymentMismatchFound,
    PaymentMethodExpiring,
)
