"""Letters to the payer about what is due, paid or ends; Notification delivers them (BIL-40).

A letter is requested by reference and composed when it is handed over, so no address waits in a
queue. It goes to the invoice addresses.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.billing import settings
from thenga.domains.billing.lifecycles import PaymentFailureLifecycle
from thenga.domains.billing.services import access, customer
from thenga.domains.billing.services.subscriptions import upcoming_invoice
from thenga.domains.billing.tables import (
    Access,
    Account,
    Cancellation,
    CancellationStatus,
    FailureCategory,
    FailureStatus,
    Invoice,
    InvoiceStatus,
    OfferedPlan,
    Payment,
    PaymentFailure,
    Renewal,
    Subscription,
    SubscriptionStatus,
    Trial,
    TrialStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money


@dataclass(frozen=True)
class Letter:
    """A letter: its topic, the addresses it goes to, and the facts for its text.

    Nobody has proved the addresses, so the facts are of our own making (SEC-66).
    """

    topic: str
    addresses: list[str]
    facts: dict[str, str]


async def compose_letter(read: Reader, topic: str, about: UUID) -> Letter | None:
    """Compose the letter as of now. None if it no longer applies or no address is known."""
    account = await read.find(Account)
    if account is None or not account.invoice_emails:
        return None
    facts = await _FACTS[topic](read, about)
    if facts is None:
        return None
    return Letter(topic, account.invoice_emails, facts)


async def _of_invoice(read: Reader, invoice_id: UUID) -> dict[str, str] | None:
    invoice = await read.get(Invoice, invoice_id)
    if invoice.status is not InvoiceStatus.OPEN or not invoice.amount_due_minor:
        return None
    assert invoice.number is not None and invoice.due_date is not None  # noqa: S101  # it is issued
    return {
        "number": invoice.number,
        "amount": _amount_text(Money(invoice.amount_due_minor, invoice.currency)),
        "dueOn": invoice.due_date.isoformat(),
    }


_KEPT = (
    "The purchase had already expired, so nothing was bought. The amount is your credit and pays "
    "your next invoice. To buy a plan with it, choose one under Billing."
)


async def _of_receipt(read: Reader, payment_id: UUID) -> dict[str, str] | None:
    payment = await read.get(Payment, payment_id)
    paid_at = payment.provider_updated_at or payment.updated_at
    invoice = await read.get(Invoice, payment.invoice_id)
    facts = {"amount": _amount_text(payment.amount), "paidOn": local_day(paid_at).isoformat()}
    if invoice.status is InvoiceStatus.DISCARDED:  # nothing waits for the money (BIL-33)
        facts["standing"] = _KEPT  # else the default of the template, as own templates expect
    return facts


async def _of_cancellation(read: Reader, cancellation_id: UUID) -> dict[str, str] | None:
    cancellation = await read.get(Cancellation, cancellation_id)
    if cancellation.status not in (CancellationStatus.SCHEDULED, CancellationStatus.EFFECTIVE):
        return None
    if cancellation.effective_at <= read.now:
        return {"standing": "Your access to the plan has ended."}
    last = _day(cancellation.effective_at - timedelta(seconds=1))
    return {"standing": f"You keep your access until {last}."}


@dataclass(frozen=True)
class _Unpaid:
    """A payment that failed and is not settled, with what it was for."""

    failure: PaymentFailure
    invoice: Invoice
    subscription: Subscription
    plan: str

    @property
    def due(self) -> str:
        return _amount_text(Money(self.invoice.amount_due_minor, self.invoice.currency))


async def _unpaid(read: Reader, failure_id: UUID) -> _Unpaid | None:
    failure = await read.get(PaymentFailure, failure_id)
    if failure.status not in PaymentFailureLifecycle.UNSETTLED:
        return None
    invoice = await read.get(Invoice, failure.invoice_id)
    subscription = await read.get(Subscription, failure.subscription_id)
    plan = await _plan(read, subscription.plan_code, subscription.plan_version)
    return _Unpaid(failure, invoice, subscription, plan)


async def _of_failure(read: Reader, failure_id: UUID) -> dict[str, str] | None:
    unpaid = await _unpaid(read, failure_id)
    if unpaid is None:
        return None
    return {
        "plan": unpaid.plan,
        "amount": unpaid.due,
        "standing": _standing(unpaid.subscription, unpaid.failure, read.now),
        "next": await _next(read, unpaid.failure),
    }


_OPEN = {
    Access.READ_ONLY: "you can read and export everything, but not change it.",
    Access.NONE: "the plan is suspended. You can still export everything.",
}


def _standing(subscription: Subscription, failure: PaymentFailure, now: datetime) -> str:
    """What the customer can still do, and until when."""
    if subscription.status is SubscriptionStatus.ENDED:
        return "The plan has ended, and this amount is still due for the time before."
    closed = _OPEN.get(access.access_level(subscription, failure, now))
    if closed is not None:
        return f"Until it is paid, {closed}"
    reduced = [step.at for step in access.access_reductions(failure) if step.at > now]
    if not reduced:
        return "You keep full access."
    last = _day(min(reduced) - timedelta(seconds=1))
    return f"You keep full access until {last}."


async def _of_grace(read: Reader, failure_id: UUID) -> dict[str, str] | None:
    unpaid = await _unpaid(read, failure_id)
    if unpaid is None:
        return None
    standing = _standing(unpaid.subscription, unpaid.failure, read.now)
    ahead = [step for step in access.access_reductions(unpaid.failure) if step.at > read.now]
    if ahead:
        first = min(ahead, key=lambda step: step.at)
        standing = f"From {_day(first.at)}, {_OPEN[first.access]}"
    return {"plan": unpaid.plan, "amount": unpaid.due, "standing": standing}


async def _of_dispute(read: Reader, failure_id: UUID) -> dict[str, str] | None:
    unpaid = await _unpaid(read, failure_id)
    if unpaid is None:
        return None
    invoice = unpaid.invoice
    return {
        "plan": unpaid.plan,
        "amount": _amount_text(Money(invoice.amount_paid_minor, invoice.currency)),
        "until": local_day(unpaid.failure.ends_at).isoformat(),
    }


async def _next(read: Reader, failure: PaymentFailure) -> str:
    if failure.category is FailureCategory.AUTHENTICATION:  # only the customer can approve it
        link = await configuration.value(read, settings.PAY_LINK)
        there = link.format(invoiceId=failure.invoice_id)
        return f"Your bank needs you to approve this payment. Please pay it here: {there}"
    if failure.status is FailureStatus.EXHAUSTED or failure.next_retry_at is None:
        return "We will not try again automatically."
    if access.is_reminder_only(failure):
        return "We cannot charge it automatically. Please pay it yourself."
    return f"We will try again on {_day(failure.next_retry_at)}."


async def _of_renewal(read: Reader, renewal_id: UUID) -> dict[str, str] | None:
    renewal = await read.get(Renewal, renewal_id)
    if renewal.renewed_at is not None:
        return None
    subscription = await read.get(Subscription, renewal.subscription_id)
    if not upcoming_invoice.renews(subscription) or subscription.period_end != renewal.period_start:
        return None
    expected = await upcoming_invoice.next_invoice(read, subscription)
    return {
        "plan": expected.plan.name,
        "amount": _amount_text(Money(renewal.amount_minor or 0, renewal.currency)),
        "until": renewal.period_start.isoformat(),
    }


async def _of_trial(read: Reader, trial_id: UUID) -> dict[str, str] | None:
    trial = await read.get(Trial, trial_id)
    if trial.status is not TrialStatus.ACTIVE:
        return None
    subscription = await read.get(Subscription, trial.subscription_id)
    bought = "The plan then continues as you chose."
    free = "Nothing will be charged. To keep the plan, buy it under Billing."
    return {
        "plan": await _plan(read, trial.plan_code, trial.plan_version),
        "until": local_day(trial.ends_at - timedelta(seconds=1)).isoformat(),
        "next": free if subscription.interval is None else bought,
    }


_FACTS = {
    customer.INVOICE_ISSUED: _of_invoice,
    customer.RECEIPT: _of_receipt,
    customer.SUBSCRIPTION_CANCELLED: _of_cancellation,
    customer.PAYMENT_FAILED: _of_failure,
    customer.DISPUTE_LOST: _of_dispute,
    customer.GRACE_ENDING: _of_grace,
    customer.RENEWAL_DUE: _of_renewal,
    customer.TRIAL_ENDING: _of_trial,
}


async def _plan(read: Reader, code: str, version: int) -> str:
    plan = await read.find(OfferedPlan, plan_code=code, plan_version=version)
    return plan.name if plan else code


def _amount_text(money: Money) -> str:
    return f"{money.currency} {money.amount}"


def _day(instant: datetime) -> str:
    return f"{local_day(instant):%d %B %Y}"
