"""Trial conversion: bought by the customer now, or automatically at the end (BIL-18)."""

from datetime import date, timedelta
from enum import StrEnum
from uuid import UUID

from thenga.domains.billing import public, settings
from thenga.domains.billing.lifecycles import TrialLifecycle
from thenga.domains.billing.services import (
    access,
    catalogue,
    customer,
    dunning,
    invoicing,
    ledger,
    payments,
    pricing,
    subscription_state,
)
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.customer import TaxDataMissing, recipient_of
from thenga.domains.billing.services.invoicing import invoice_lines
from thenga.domains.billing.services.payments import PaymentChoice
from thenga.domains.billing.services.pricing import interval_of
from thenga.domains.billing.services.trials import conversion_invoices, trials
from thenga.domains.billing.tables import (
    Account,
    CollectionMethod,
    FailureKind,
    Interval,
    Invoice,
    InvoiceStatus,
    Payment,
    PaymentFailure,
    PaymentMethod,
    Purpose,
    Subscription,
    SubscriptionStatus,
    Trial,
    TrialStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import InvalidTransition, extensions
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_LATER = timedelta(minutes=10)


class ConversionTime(StrEnum):
    """When the plan of a trial is bought."""

    NOW = "now"
    TRIAL_END = "trial_end"


class ConversionNotPossible(InvalidTransition):
    """This trial cannot be converted in its current status.

    `cancellationId` is there if a cancellation must be undone first.
    """

    members = extensions(
        **InvalidTransition.members,
        cancellationId=(str, "Cancellation that must be undone first."),
    )


async def convert(
    work: Work, trial_id: UUID, *, interval: Interval, how: PaymentChoice, when: ConversionTime
) -> tuple[Trial, Payment | None]:
    """Buy the trial's plan: now, or when the trial ends, with a saved method."""
    account = await customer.lock_account(work)
    trial = await work.lock(Trial, trial_id)
    subscription = await work.lock(Subscription, trial.subscription_id)
    if trial.status is TrialStatus.CONVERTED:
        return trial, None
    trials.check_trial_running(trial, work.now, operation="convert")
    if subscription.cancel_at is not None:
        raise not_possible(
            "This trial is cancelled. Undo the cancellation first, then buy the plan.",
            status=trial.status,
            operation="convert",
            allowed=[],
            kind=ConversionNotPossible,
            cancellationId=str(subscription.cancellation_id),
        )
    recipient_of(account, await _price(work, subscription, interval))
    await conversion_invoices.drop_unpaid_conversion(work, subscription)
    subscription.interval = interval.value
    if when is ConversionTime.TRIAL_END:
        subscription.payment_method_id = await _on_file(work, account, how)
        await work.save(subscription)
        return trial, None
    subscription.payment_method_id = how.payment_method_id or subscription.payment_method_id
    await work.save(subscription)
    starts_on = local_day(work.now)
    return trial, await _buy(work, account, subscription, trial, starts_on=starts_on, how=how)


async def _on_file(read: Reader, account: Account, how: PaymentChoice) -> UUID:
    """A saved method that can be charged without the customer."""
    method = await payments.default_method(read, account.id)
    if how.payment_method_id is not None:
        method = await read.find(PaymentMethod, id=how.payment_method_id)
    if method is None or not payments.is_chargeable(method, read.now):
        raise payments.PaymentMethodRequired()
    return method.id


async def _price(read: Reader, subscription: Subscription, interval: Interval) -> Money:
    code = subscription.plan_code
    plan = await catalogue.plan_version(read, code, subscription.plan_version)
    price = catalogue.price_of(plan, interval)
    if price is None:
        raise PlanNotAvailable(
            f"The {code} plan is not sold with {pricing.interval_adverb(interval)} billing. Choose "
            "another interval.",
            planCode=code,
        )
    return price


async def _can_be_bought(read: Reader, subscription: Subscription) -> bool:
    """Whether the conversion was chosen, is not cancelled and can be invoiced (BIL-7, BIL-26)."""
    if subscription.interval is None or subscription.cancel_at is not None:
        return False
    account = await read.get(Account, subscription.account_id)
    try:
        recipient_of(account, await _price(read, subscription, interval_of(subscription)))
    except (TaxDataMissing, PlanNotAvailable):
        return False
    return account.parked is None


async def run_due_trial_steps(work: Work, trial_id: UUID, *, replaced: bool = False) -> None:
    """Run the trial's due steps. At its end it is bought if that was chosen, otherwise it
    expires. It waits for a bank transfer, unless another purchase replaces it."""
    account = await customer.lock_account(work)
    trial = await work.lock(Trial, trial_id)
    due = trial.next_check_at
    if replaced and due is not None and trial.ends_at <= work.now:
        due = min(due, work.now)
    if due is None or due > work.now or trial.status is not TrialStatus.ACTIVE:
        return
    if due < trial.ends_at:
        await trials.run_due_step(work, trial, due)
        customer.notify(work, customer.TRIAL_ENDING, trial_id)
        return
    known = await work.get(Subscription, trial.subscription_id)
    if await conversion_invoices.charging(work, known) is not None:
        trial.next_check_at = work.now + _LATER
        await work.save(trial)
        return
    until = await conversion_invoices.transfer_awaited_until(work, known)
    if until is not None and not replaced:
        trial.next_check_at = until
        await work.save(trial)
        return
    method_id = await dunning.method_for(work, known)
    if method_id is None or not await _can_be_bought(work, known):
        await trials.run_due_step(work, trial, due)
        return
    seller_code = await configuration.value(work, settings.SELLER)
    if await invoicing.is_blocked(work, seller_code, account.book):
        trial.next_check_at = work.now + _LATER
        await work.save(trial)
        return
    await _convert_at_end(work, trial, PaymentChoice(payment_method_id=method_id))


async def _convert_at_end(work: Work, trial: Trial, how: PaymentChoice) -> None:
    subscription = await work.lock(Subscription, trial.subscription_id)
    account = await customer.lock_account(work)
    await conversion_invoices.drop_unpaid_conversion(work, subscription)
    await _close(work, trial)
    starts_on = local_day(trial.ends_at)
    await _buy(work, account, subscription, trial, starts_on=starts_on, how=how)


async def _buy(
    work: Work,
    account: Account,
    subscription: Subscription,
    trial: Trial,
    *,
    starts_on: date,
    how: PaymentChoice,
) -> Payment | None:
    period = pricing.period_number(starts_on, interval_of(subscription), 0)
    lines = await invoicing.recurring_lines(work, subscription, period)
    total = Money(sum(line.gross.minor for line in lines), account.currency)
    invoice = await invoicing.draft_invoice(
        work,
        account,
        purpose=Purpose.CONVERSION,
        lines=lines,
        subscription_id=subscription.id,
        planned_credit=await ledger.credit_for(work, account, total),
    )
    sent = account.collection_method is CollectionMethod.SEND_INVOICE
    if sent or invoice.amount_due_minor == 0:
        await invoicing.release_invoice(work, invoice)
        await _begin(work, subscription, trial, starts_on)
        return None
    if work.now < trial.ends_at:
        return await payments.begin_payment(
            work, account, invoice, how=how, initiated_by="customer"
        )
    blocked = await dunning.blocked_by(work, how.payment_method_id, invoice)
    if blocked is None:
        return await payments.begin_payment(work, account, invoice, how=how, initiated_by="system")
    declined, held = FailureKind.DECLINED, await work.hold(invoice)
    await dunning.open_failure(work, held, subscription, kind=declined, category=blocked)
    return None


async def record_first_payment(
    work: Work, payment: Payment, invoice: Invoice, subscription: Subscription
) -> None:
    """Apply the first payment. For an ended subscription it stays as credit."""
    failure = await access.unsettled_failure(work, invoice.id)
    waits = subscription.status is SubscriptionStatus.TRIALING or failure is not None
    if not waits or invoice.status is not InvoiceStatus.DRAFT or subscription.trial_id is None:
        return
    await invoicing.release_invoice(work, invoice, paid=payment.amount)
    trial = await work.lock(Trial, subscription.trial_id)
    starts_on = await _as_billed(work, invoice, subscription)
    if failure is None:
        await _begin(work, subscription, trial, starts_on)
        return
    subscription_state.begin_periods(subscription, starts_on)
    await work.save(subscription)
    held = await work.lock(PaymentFailure, failure.id)
    await dunning.reinstate(work, held, subscription, payment)


async def _as_billed(read: Reader, invoice: Invoice, subscription: Subscription) -> date:
    """Start the plan of the paid line on the first day of its period."""
    for line in await invoice_lines(read, invoice.id):
        if line.service_from is not None and line.plan_code and line.plan_version:
            subscription.plan_code, subscription.plan_version = line.plan_code, line.plan_version
            return line.service_from
    return local_day(read.now)


async def lock_trial(work: Work, subscription_id: UUID) -> None:
    """Lock the trial, which comes before its subscription."""
    known = await work.get(Subscription, subscription_id)
    if known.trial_id is not None:
        await work.lock(Trial, known.trial_id)


async def _begin(work: Work, subscription: Subscription, trial: Trial, starts_on: date) -> None:
    await _close(work, trial)
    await subscription_state.activate(work, subscription, starts_on=starts_on)


async def _close(work: Work, trial: Trial) -> None:
    """Mark the trial as converted and publish it once."""
    if not TrialLifecycle.convert(trial, at=work.now):
        return
    trial.converted_at = trial.ended_at = work.now
    trial.next_check_at = None
    await work.save(trial)
    work.publish(
        public.TrialEnded(
            organization_id=trial.organization_id,
            trial_id=trial.id,
            subscription_id=trial.subscription_id,
            plan_code=trial.plan_code,
            ends_at=trial.ends_at,
            outcome="converted",
        )
    )


async def is_converted(read: Reader, subscription: Subscription) -> bool:
    """Whether the trial was bought, so that a declined charge goes into recovery (BIL-18)."""
    if subscription.trial_id is None:
        return False
    trial = await read.get(Trial, subscription.trial_id)
    return trial.status is TrialStatus.CONVERTED
