"""What Billing tells of renewals, and of payments that failed and came after all."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money


class RemedyTold(BaseModel):
    """What would help: pay the invoice, put a method on file that can, or talk to us."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    kind: Literal["pay_invoice", "update_method", "contact"]
    invoice_id: UUID | None
    amount: Money


class PaymentFailed(Event, type="billing.PaymentFailed.v1", subject="invoice_id"):
    """A charge was declined or an invoice is late; the dates say what follows, and when.

    `attempt` is 0 for the first failure. Without `failure_id` nothing follows: what was to be
    bought was not bought.
    """

    organization_id: UUID
    payment_id: UUID | None
    failure_id: UUID | None
    invoice_id: UUID
    subscription_id: UUID | None
    attempt: int
    category: Literal["soft", "hard", "authentication", "technical"]
    next_retry_at: datetime | None
    grace_ends_at: datetime | None
    remedy: RemedyTold


class PaymentRecovered(Event, type="billing.PaymentRecovered.v1", subject="failure_id"):
    """What had failed is paid, and everything stands as before."""

    organization_id: UUID
    payment_id: UUID | None
    failure_id: UUID
    invoice_id: UUID
    subscription_id: UUID
    amount: Money


class GraceEnding(Event, type="billing.GraceEnding.v1", subject="failure_id"):
    """Grace ends at `at`; told once, some days before."""

    organization_id: UUID
    failure_id: UUID
    subscription_id: UUID
    at: datetime
    amount: Money
    remedy: RemedyTold


class RenewalDue(Event, type="billing.RenewalDue.v1", subject="renewal_id"):
    """A subscription renews at `at` and costs about `amount`; told once a period."""

    organization_id: UUID
    renewal_id: UUID
    subscription_id: UUID
    at: datetime
    amount: Money
    remedy: RemedyTold | None


EVENTS = (PaymentFailed, PaymentRecovered, GraceEnding, RenewalDue)
