"""What providers report and what they are asked: the values that adapters and services share."""

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
    expires_on: date | None = None  # the last day on which it is good


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing said, verified; `reference` is ours, `provider_reference` the provider's.

    `provider_reference` is the same whether the provider calls back, answers or is asked, because
    two of them under one reference are two payments of money (BIL-33).
    """

    reference: str
    kind: StatementKind
    status: StatedStatus
    provider_reference: str | None = None
    amount_minor: int | None = None
    currency: str | None = None
    fee_minor: int | None = None
    provider_at: datetime | None = None
    item_reference: str | None = None  # the provider's number of the refund or dispute
    item_alias: str | None = None  # what its events call a refund where they leave out the number
    code: str | None = None  # why it failed, as the provider writes it
    category: str | None = None  # soft, hard, authentication, technical
    tolerance_minor: int = 0  # how far the amount may be off (PayFast: a cent, BIL-38)
    token: MethodToken | None = None


@dataclass(frozen=True, slots=True)
class Order:
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
    token: str | None = None  # a way to pay that is on file


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
class Answer:
    """The result of asking a provider. An empty answer means silence, which is not a failure."""

    statement: Statement | None = None
    action: NextAction | None = None
    fault: str | None = None  # it could not take the order, so nothing was charged
    unheard: bool = False  # it has never heard of the reference
