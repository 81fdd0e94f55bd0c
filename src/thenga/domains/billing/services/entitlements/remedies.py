"""Remedies: what would make a refused use possible, with its price today (BIL-46)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic.alias_generators import to_camel

from thenga.domains.billing.public import EntitlementSignal, Remedy
from thenga.domains.billing.services.catalogue import Entitlement
from thenga.domains.billing.services.entitlements import signals
from thenga.domains.billing.services.entitlements.merging import (
    Contribution,
    HeldSet,
    Source,
    merge,
)
from thenga.domains.billing.services.entitlements.signals import Question
from thenga.domains.billing.services.invoicing import UnusedTime
from thenga.domains.billing.services.metering import Used
from thenga.domains.billing.tables import Access
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class Offer:
    """A public plan and its price for the interval."""

    plan_code: str
    price: Money
    entitlements: tuple[Entitlement, ...]


@dataclass(frozen=True, slots=True)
class Owed:
    """The unpaid invoice, and whether the saved method can still pay it."""

    invoice_id: UUID
    amount: Money
    method_usable: bool = True


@dataclass(frozen=True, slots=True)
class RemedyInputs:
    """What a remedy depends on besides the signal."""

    offers: Sequence[Offer] = ()
    beside: Sequence[Contribution] = ()  # add-ons and grants, which remain with another plan
    capped: bool = False  # the spend cap is reached, so soft limits are hard in every plan
    remaining: UnusedTime | None = None
    tries: bool = False  # in a trial another plan costs nothing (BIL-11)
    credit: Money | None = None  # credit pays first
    owed: Owed | None = None
    resumes_at: datetime | None = None


_BY_PLAN = ("no_subscription", "not_in_plan", "trial_ended", "limit_reached", "spend_cap_reached")
_BY_PAYING = ("payment_overdue", "suspended", "grace")


def remedy(
    said: EntitlementSignal, used: Used, asked: Question, inputs: RemedyInputs
) -> Remedy | None:
    """The remedy for a signal. None if nothing is wrong."""
    if said.reason == "included":
        return None
    if said.reason in _BY_PAYING and inputs.owed is not None:
        owed = inputs.owed
        return Remedy(
            kind="pay_invoice" if owed.method_usable else "update_method",
            invoice_id=owed.invoice_id,
            amount_today=owed.amount,
        )
    if said.reason == "paused":
        return Remedy(kind="resume", at=inputs.resumes_at)
    if said.reason in _BY_PLAN:
        offer = cheapest(inputs, used, asked)
        if offer is not None:
            today = due_today(offer.price, inputs)
            return Remedy(kind="upgrade", plan_code=offer.plan_code, amount_today=today)
        if said.resets_at is not None:
            return Remedy(kind="wait", at=said.resets_at)
    return Remedy(kind="contact")


def cheapest(inputs: RemedyInputs, used: Used, asked: Question) -> Offer | None:
    """The cheapest plan that would allow the same use."""
    for offer in sorted(inputs.offers, key=lambda plan: (plan.price, plan.plan_code)):
        if signals.signal(_holding(offer, inputs), used, _ANY_TIME, asked).entitled:
            return offer
    return None


def due_today(price: Money, inputs: RemedyInputs) -> Money:
    """The amount charged for a plan today: the full price or the prorated difference, less
    credit."""
    nothing = Money(0, price.currency)
    if inputs.tries:
        return nothing
    credit, rest = inputs.credit or nothing, inputs.remaining
    if rest is None:
        return max(nothing, price - credit)
    return max(nothing, rest.charge(price) - rest.credit(price.currency) - credit)


def with_remedy(
    said: EntitlementSignal, used: Used, asked: Question, inputs: RemedyInputs
) -> EntitlementSignal:
    return said.model_copy(update={"remedy": remedy(said, used, asked, inputs)})


def serialize_remedy(helps: Remedy) -> dict[str, Any]:
    """A remedy as a problem member, with camel case names."""
    document = helps.model_dump(mode="json")
    return {to_camel(name): value for name, value in document.items()}


_ANY_TIME = datetime.min.replace(tzinfo=UTC)  # the result for an offer does not depend on the time
_NOTHING = HeldSet({}, Access.FULL, None, None)


def _holding(offer: Offer, inputs: RemedyInputs) -> HeldSet:
    given = [Contribution(Source.PLAN, offer.entitlements), *inputs.beside]
    return replace(_NOTHING, items=merge(given), spend_capped=inputs.capped)
