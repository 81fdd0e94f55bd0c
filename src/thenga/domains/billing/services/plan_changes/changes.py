"""Plan changes: request, payment, withdrawal, expiry and effect (BIL-10 to 12)."""

from dataclasses import replace
from datetime import date
from uuid import UUID

from thenga.domains.billing.services import catalogue, customer, entitlements, invoicing, payments
from thenga.domains.billing.services.invoicing import DraftLine
from thenga.domains.billing.services.payments import (
    PaymentChoice,
    PaymentInProgress,
    PaymentMethodRequired,
)
from thenga.domains.billing.services.plan_changes import quotes, trial_switches
from thenga.domains.billing.services.plan_changes.quotes import (
    ChangeQuote,
    ChangeRequest,
    Direction,
    Effective,
)
from thenga.domains.billing.services.subscription_state import (
    UNPAID_FOR,
    begin_periods,
    change_awaited_until,
    change_ends_at,
    drop_change,
    publish_change,
    schedule_next_check,
)
from thenga.domains.billing.tables import (
    Account,
    ChangeStatus,
    CollectionMethod,
    CreditReason,
    Invoice,
    InvoiceLine,
    LineKind,
    PendingChange,
    Purpose,
    Subscription,
    SubscriptionStatus,
    Trial,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Problem, extensions
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money


class ChangeToday(Problem):
    """A plan can be downgraded once a day, and not on the day of an upgrade. Send `period_end`
    to change at the end of the period, or try again tomorrow."""

    code, status, title = "billing-change-today", 409, "The plan was already changed today"


class QuoteChanged(Problem):
    """The amount due differs from the amount you confirmed. Preview the change again and confirm
    `amountDue`, the current amount; `expected` is what you sent."""

    code, status, title = "billing-quote-changed", 409, "The price has changed"
    members = extensions(
        amountDue=(Money, "Current amount."),
        expected=(Money, "Amount you sent."),
    )


class PaymentOverdue(Problem):
    """An invoice of this subscription is unpaid. Pay it first; then you can change or pause the
    plan at once."""

    code, status, title = "billing-payment-overdue", 409, "An invoice is overdue"
    members = extensions(invoiceId=(UUID, "Unpaid invoice."))


class SubscriptionPaused(Problem):
    """A paused subscription cannot be changed. Resume it first, or cancel it with `immediate`."""

    code, status, title = "billing-paused", 409, "This subscription is paused"


async def request_change(
    work: Work, subscription: Subscription, wanted: ChangeRequest, *, expected_due: Money | None
) -> Subscription:
    """Change the plan of a locked subscription: now, once paid, or at the end of the period."""
    if subscription.status is SubscriptionStatus.TRIALING:
        trial = await work.lock(Trial, trial_switches.trial_of(subscription))
        switch = await trial_switches.quote(work, subscription, trial, wanted.plan_code)
        check_expected(switch.due, expected_due)
        return await trial_switches.switch_plan(work, subscription, trial, switch.change.plan)
    check_changeable(subscription)
    account = await customer.lock_account(work)
    customer.check_not_parked(account)
    if _is_applied(subscription, wanted):
        return subscription
    quoted = await quotes.quote(work, subscription, wanted)
    check_expected(quoted.due, expected_due)
    check_no_unpaid_change(subscription)
    if quoted.change.effective is Effective.PERIOD_END:
        return await _schedule(work, subscription, quoted)
    await check_settled(work, account, quoted)
    check_day(subscription, quoted)
    return await _change_now(work, account, subscription, quoted)


def _is_applied(subscription: Subscription, wanted: ChangeRequest) -> bool:
    """Whether a repeated request asks for a change that was already applied."""
    if subscription.pending_change is not None or subscription.changed_on is None:
        return False
    same = subscription.plan_code == wanted.plan_code
    interval = wanted.interval in (None, subscription.interval)
    return same and interval


def check_changeable(subscription: Subscription) -> None:
    """Refuse a change that the subscription's status does not allow (BIL-11)."""
    if subscription.status in (SubscriptionStatus.PAST_DUE, SubscriptionStatus.SUSPENDED):
        raise PaymentOverdue()
    if subscription.status is SubscriptionStatus.PAUSED:
        raise SubscriptionPaused()
    if subscription.status is not SubscriptionStatus.ACTIVE or subscription.cancel_at is not None:
        raise not_possible(
            "Only an active plan that is not cancelled can be changed. Undo the cancellation, or "
            "buy a new plan.",
            status=subscription.status,
            operation="change-plan",
            allowed=[],
        )


def check_expected(due: Money, expected: Money | None) -> None:
    """Refuse if the amount due differs from what the customer confirmed."""
    if expected is not None and expected != due:
        raise QuoteChanged(
            f"This change now costs {due}, not {expected}. Preview it again and confirm.",
            expected=_wire(expected),
            amountDue=_wire(due),
        )


def check_no_unpaid_change(subscription: Subscription) -> None:
    """Refuse a change while an earlier one waits for its payment."""
    if change_awaited_until(subscription) is not None:
        raise PaymentInProgress(
            "Another plan change is waiting for its payment. Withdraw it first."
        )


def check_day(subscription: Subscription, quoted: ChangeQuote) -> None:
    """Allow one downgrade a day, and none on the day of another change."""
    if quoted.change.direction is Direction.DOWN and subscription.changed_on == quoted.priced.on:
        raise ChangeToday()


async def check_settled(read: Reader, account: Account, quoted: ChangeQuote) -> None:
    """Refuse while the current period is unpaid: crediting it would only reduce the debt
    (BIL-11)."""
    running = quoted.priced.running
    if running is None or account.collection_method is CollectionMethod.SEND_INVOICE:
        return
    invoice = await read.get(Invoice, running.invoice_id)
    if invoice.amount_due_minor <= invoice.received_minor - invoice.amount_paid_minor:
        return
    payment = await payments.payment_in_progress(read, invoice.id)
    if payment is None:
        raise PaymentOverdue()
    raise PaymentInProgress(
        "The current period is being paid. Try again once that payment has succeeded.",
        paymentId=str(payment.id),
    )


async def _schedule(work: Work, subscription: Subscription, quoted: ChangeQuote) -> Subscription:
    """Schedule the change for the end of the period. It replaces an earlier one."""
    subscription.pending_change = _pending(quoted, ChangeStatus.SCHEDULED).to_row()
    await schedule_next_check(work, subscription)
    await work.save(subscription)
    await entitlements.refresh(work, reason="plan_change_scheduled")
    return subscription


async def _change_now(
    work: Work, account: Account, subscription: Subscription, quoted: ChangeQuote
) -> Subscription:
    pending = _pending(quoted, ChangeStatus.AWAITING_PAYMENT)
    invoice = await _draft(work, account, subscription, quoted, pending.change_id)
    pending = replace(
        pending,
        invoice_id=None if invoice is None else invoice.id,
        expires_at=min(work.now + UNPAID_FOR, invoicing.current_period(subscription).ends_at),
        former=subscription.change,
    )
    subscription.pending_change = pending.to_row()
    at_once = not quoted.due or account.collection_method is CollectionMethod.SEND_INVOICE
    if at_once or invoice is None:
        await apply_change(work, subscription, on=quoted.priced.on)
        return subscription
    how = await _by_method(work, subscription)
    payment = await payments.begin_payment(work, account, invoice, how=how, initiated_by="customer")
    subscription.pending_change = replace(pending, payment_id=payment.id).to_row()
    await schedule_next_check(work, subscription)
    return await work.save(subscription)


async def _by_method(read: Reader, subscription: Subscription) -> PaymentChoice:
    """The subscription's method if chargeable, otherwise the account's."""
    method = await payments.method_of(read, subscription)
    if method is None:
        raise PaymentMethodRequired("Add a payment method first. The change is charged to it.")
    return PaymentChoice(payment_method_id=method.id)


async def _draft(
    work: Work, account: Account, subscription: Subscription, quoted: ChangeQuote, change_id: UUID
) -> Invoice | None:
    """The invoice of the remaining days on the new plan. None if they cost nothing."""
    change, priced = quoted.change, quoted.priced
    if not priced.charge:
        return None
    line = DraftLine(
        kind=LineKind.RECURRING if change.restarts_periods else LineKind.PRORATION,
        description=invoicing.plan_line_text(change.plan, change.interval),
        quantity=1,
        unit_price=priced.charge,
        gross=priced.charge,
        service=priced.service,
        subscription_id=subscription.id,
        plan_code=change.plan.plan_code,
        plan_version=change.plan.plan_version,
        key=f"change:{change_id}",
    )
    return await invoicing.draft_invoice(
        work,
        account,
        purpose=Purpose.CHANGE,
        lines=[line],
        subscription_id=subscription.id,
        planned_credit=quoted.credit_applied,
    )


def _pending(quoted: ChangeQuote, status: ChangeStatus) -> PendingChange:
    change, priced = quoted.change, quoted.priced
    return PendingChange(
        change_id=new_id(),
        plan_code=change.plan.plan_code,
        plan_version=change.plan.plan_version,
        interval=change.interval,
        effective=change.effective.value,
        effective_on=priced.on,
        status=status,
        credit_minor=priced.credit.minor,
        amount_due_minor=quoted.due.minor,
        currency=priced.charge.currency,
        credited_line_id=priced.running.line_id if priced.running else None,
        restarts_periods=change.restarts_periods,
    )


def awaits_payment(subscription: Subscription, invoice_id: UUID) -> bool:
    """Whether this invoice pays for the pending change. If not, the payment is too late
    (BIL-33)."""
    pending = subscription.change
    return pending is not None and pending.invoice_id == invoice_id


async def apply_change(work: Work, subscription: Subscription, *, on: date) -> None:
    """Apply a change that is paid or due."""
    pending = subscription.change
    if pending is None:
        return
    await _release(work, pending)
    subscription.plan_code, subscription.plan_version = pending.plan_code, pending.plan_version
    subscription.interval = pending.interval.value
    if pending.effective == Effective.NOW:
        subscription.changed_on = pending.effective_on
    if pending.restarts_periods:
        begin_periods(subscription, pending.effective_on)
    subscription.pending_change = None
    await schedule_next_check(work, subscription)
    await work.save(subscription)
    await publish_change(work, subscription, "plan_changed")
    await entitlements.refresh(work, reason="plan_changed")


async def _release(work: Work, pending: PendingChange) -> None:
    """Credit the old days first, which frees them, then bill the new ones."""
    if pending.credited_line_id is not None:
        await _credit_former_plan(work, pending, pending.credited_line_id)
    if pending.invoice_id is not None:
        invoice = await work.lock(Invoice, pending.invoice_id)
        await invoicing.release_invoice(work, invoice)


async def _credit_former_plan(work: Work, pending: PendingChange, line_id: UUID) -> None:
    """Credit the quoted amount, or what operators have left of the line, and free its days."""
    cut = pending.effective_on
    line = await work.get(InvoiceLine, line_id)
    left = line.gross_minor - line.credited_minor
    credit = Money(min(pending.credit_minor, left), pending.currency)
    if not credit:
        await invoicing.shorten_billed_period(work, line.id, at=cut)
        return
    note = await invoicing.draft_credit_note(
        work,
        await work.get(Invoice, line.invoice_id),
        credited=[(line.id, credit)],
        reason_code=CreditReason.PLAN_CHANGE,
        explanation=f"Plan changed to {pending.plan_code} on {cut.isoformat()}",
    )
    await invoicing.release_credit_note(work, note, cut_span_at=cut)


async def apply_at_renewal(work: Work, subscription: Subscription, *, on: date) -> None:
    """Apply the scheduled change, or an announced migration (BIL-1). An unpaid change expires."""
    if change_awaited_until(subscription) is not None:
        await drop_change(work, subscription)
    pending = subscription.change
    if pending is not None:
        version = await catalogue.renewal_version(work, pending.plan_code, pending.plan_version, on)
        subscription.pending_change = replace(pending, plan_version=version).to_row()
        await apply_change(work, subscription, on=on)
        return
    code, number = subscription.plan_code, subscription.plan_version
    subscription.plan_version = await catalogue.renewal_version(work, code, number, on)
    if subscription.plan_version != number:
        await work.save(subscription)
        await publish_change(work, subscription, "plan_changed")
        await entitlements.refresh(work, reason="plan_migrated")


async def withdraw_change(work: Work, subscription: Subscription) -> Subscription:
    """Withdraw a pending change, unless it is being charged."""
    pending = subscription.change
    if pending is None:
        return subscription
    if await _is_charged(work, pending):
        raise PaymentInProgress("This change is being paid. Wait for the result of the payment.")
    if pending.is_scheduled:
        subscription.pending_change = None
    else:
        await drop_change(work, subscription)
    await schedule_next_check(work, subscription)
    await work.save(subscription)
    await entitlements.refresh(work, reason="plan_change_withdrawn")
    return subscription


async def expire_change(work: Work, subscription: Subscription) -> None:
    """Drop a change that was not paid in time (BIL-11)."""
    if await is_change_expired(work, subscription):
        await drop_change(work, subscription)
        await work.save(subscription)


async def is_change_expired(read: Reader, subscription: Subscription) -> bool:
    """Whether it has expired. A charge in progress extends it until the end of the period."""
    until, pending = await change_ends_at(read, subscription), subscription.change
    if until is None or pending is None or read.now < until:
        return False
    over = invoicing.current_period(subscription).ends_at <= read.now
    return over or not await _is_charged(read, pending)


async def _is_charged(read: Reader, pending: PendingChange) -> bool:
    if pending.invoice_id is None:
        return False
    return await payments.charge_in_progress(read, pending.invoice_id) is not None


def move_with_period(subscription: Subscription) -> None:
    """Move a scheduled change with the end of the period, for example after a pause."""
    pending, end = subscription.change, subscription.period_end
    if pending is not None and pending.is_scheduled and end is not None:
        subscription.pending_change = replace(pending, effective_on=end).to_row()


def _wire(money: Money) -> dict[str, str]:
    return {"amount": money.amount, "currency": money.currency}
