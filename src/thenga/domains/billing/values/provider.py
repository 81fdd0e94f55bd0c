"""Orders to payment providers, and their answers and reports."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class StatementKind(StrEnum):
    """What a provider reports on."""

    PAYMENT = "payment"
    REFUND = "refund"
    DISPUTE = "dispute"


class StatedStatus(StrEnum):
    """Status a provider reports. Disputes are `open`, `won` or `lost`."""

    REQUIRES_ACTION = "requires_action"
    PROCESSING = "processing"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SUCCEEDED = "succeeded"
    OPEN = "open"
    WON = "won"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class MethodToken:
    """A token to charge a customer later, as the provider issues it. It never contains a card
    number."""

    token: str
    kind: str = "card"
    brand: str | None = None
    last4: str | None = None
    expires_on: date | None = None  # last valid day


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """A verified report on a payment, refund or dispute.

    `reference` is ours, `provider_reference` the provider's. The provider's is the same in
    callbacks, answers and polls, because two of them under one reference are two payments (BIL-33).
    """

    reference: str
    kind: StatementKind
    status: StatedStatus
    provider_reference: str | None = None
    amount_minor: int | None = None
    currency: str | None = None
    fee_minor: int | None = None
    provider_at: datetime | None = None
    item_reference: str | None = None  # the provider's id of the refund or dispute
    item_alias: str | None = None  # the id of a refund in events that omit `item_reference`
    code: str | None = None  # decline code of the provider
    category: str | None = None  # soft, hard, authentication, technical
    tolerance_minor: int = 0  # accepted difference of the amount (PayFast: a cent, BIL-38)
    token: MethodToken | None = None


@dataclass(frozen=True, slots=True)
class ChargeOrder:
    """A payment that a provider is asked to collect. Our reference identifies a repeated
    request."""

    provider: str
    key: str
    reference: str
    provider_reference: str | None
    amount_minor: int
    currency: str
    description: str
    email: str
    notify_url: str
    return_url: str | None = None
    token: str | None = None  # of a saved payment method


@dataclass(frozen=True, slots=True)
class RefundOrder:
    """A refund that a provider is asked to pay out."""

    provider: str
    key: str
    reference: str
    provider_reference: str | None
    refund_reference: str | None
    amount_minor: int
    currency: str
    reason: str


@dataclass(frozen=True, slots=True)
class NextAction:
    """What the customer does next: open a page, or post a form."""

    kind: str
    url: str | None = None
    fields: dict[str, str] | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """A provider's response to an order. An empty answer means that none came, which is not a
    failure."""

    report: ProviderReport | None = None
    action: NextAction | None = None
    fault: str | None = None  # the order was not accepted, so nothing was charged
    unknown_reference: bool = False  # the provider has no such reference
