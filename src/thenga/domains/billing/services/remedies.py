"""What would help: every «no» and every grace names a way out, with its price today (BIL-46)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from pydantic.alias_generators import to_camel

from thenga.domains.billing.public import EntitlementSignal, Remedy
from thenga.domains.billing.services import proration, signals
from thenga.domains.billing.services.entitlement_sets import Contribution, HeldSet, Source, merge
from thenga.domains.billing.services.entitlement_types import Entitlement
from thenga.domains.billing.services.periods import Period
from thenga.domains.billing.services.proration import RunningLine
from thenga.domains.billing.services.signals import Question, Used
from thenga.domains.billing.tables import Access
from thenga.kernel.money import Money


@dataclass(frozen=True, slots=True)
class Offer:
    """A public plan of the interval in question, at its price."""

    plan_code: str
    price: Money
    entitlements: tuple[Entitlement, ...]


@dataclass(frozen=True, slots=True)
class Paid:
    """What is being paid now: the running line and its period."""

    line: RunningLine
    period: Period


@dataclass(frozen=True, slots=True)
class Owed:
    """The invoice that waits, and whether the method on file can still pay it."""

    invoice_id: UUID
    amount: Money
    method_usable: bool = True


@dataclass(frozen=True, slots=True)
class Situation:
    """What a remedy may look at beside the signal."""

    today: date
    offers: Sequence[Offer] = ()
    paid: Paid | None = None
    credit: Money | None = None  # what the account has to its credit pays first
    owed: Owed | None = None
    resumes_at: datetime | None = None


_BY_PLAN = ("no_subscription", "not_in_plan", "trial_ended", "limit_reached", "spend_cap_reached")
_BY_PAYING = ("payment_overdue", "suspended", "grace")


def remedy(
    said: EntitlementSignal, used: Used, asked: Question, situation: Situation
) -> Remedy | None:
    """The way out of a signal; None where nothing is wrong."""
    if said.reason == "included":
        return None
    if said.reason in _BY_PAYING and situation.owed is not None:
        owed = situation.owed
        return Remedy(
            kind="pay_invoice" if owed.method_usable else "update_method",
            invoice_id=owed.invoice_id,
            amount_today=owed.amount,
        )
    if said.reason == "paused":
        return Remedy(kind="resume", at=situation.resumes_at)
    if said.reason in _BY_PLAN:
        offer = cheapest(situation.offers, used, asked)
        if offer is not None:
            price = price_today(offer.price, situation.paid, situation.today)
            nothing = Money(0, price.currency)
            today = max(nothing, price - (situation.credit or nothing))
            return Remedy(kind="upgrade", plan_code=offer.plan_code, amount_today=today)
        if said.resets_at is not None:
            return Remedy(kind="wait", at=said.resets_at)
    return Remedy(kind="contact")


def cheapest(offers: Sequence[Offer], used: Used, asked: Question) -> Offer | None:
    """The cheapest plan that would answer yes to the same question."""
    for offer in sorted(offers, key=lambda one: (one.price, one.plan_code)):
        if signals.signal(_holding(offer), used, _ANY_TIME, asked).entitled:
            return offer
    return None


def price_today(price: Money, paid: Paid | None, today: date) -> Money:
    """What an upgrade costs now: the whole price, or the rest of the period less what was paid."""
    if paid is None:
        return price
    return proration.change(paid.line, new_price=price, period=paid.period, day=today).due


def with_remedy(
    said: EntitlementSignal, used: Used, asked: Question, situation: Situation
) -> EntitlementSignal:
    return said.model_copy(update={"remedy": remedy(said, used, asked, situation)})


def shown(helps: Remedy) -> dict[str, Any]:
    """A remedy as a problem carries it: the names of the wire."""
    told = helps.model_dump(mode="json")
    return {to_camel(name): value for name, value in told.items()}


_ANY_TIME = datetime.min.replace(tzinfo=UTC)  # a yes or no of an offer does not hang on the instant
_NOTHING = HeldSet({}, Access.FULL, None, None)


def _holding(offer: Offer) -> HeldSet:
    return replace(_NOTHING, items=merge([Contribution(Source.PLAN, offer.entitlements)]))
