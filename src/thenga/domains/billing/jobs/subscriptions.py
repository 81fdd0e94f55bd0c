"""Scheduled steps of trials, subscriptions, invoices and recoveries."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.billing.jobs.declared import jobs, move
from thenga.domains.billing.services import (
    dunning,
    subscriptions,
    trials,
)
from thenga.domains.billing.tables import (
    Cancellation,
    Invoice,
    PaymentFailure,
    Subscription,
    Trial,
)
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run


@when_due(jobs, Trial, every=timedelta(seconds=10), outside=True)
async def move_trial(run: Run, *, trial_id: UUID) -> None:
    """A trial's notice, conversion or end."""
    await move(run, trials.run_due_trial_steps, Trial, trial_id)


@when_due(jobs, PaymentFailure, every=timedelta(seconds=10), outside=True)
async def move_failure(run: Run, *, failure_id: UUID) -> None:
    """The next step of a recovery: a retry, a notice or the end."""
    await move(run, dunning.run_due_steps, PaymentFailure, failure_id)


@when_due(jobs, Invoice, every=timedelta(seconds=30), outside=True)
async def move_invoice(run: Run, *, invoice_id: UUID) -> None:
    """Recognize revenue, mark a sent invoice overdue, or collect what nothing else collects."""
    await move(run, dunning.run_due_invoice_steps, Invoice, invoice_id)


@when_due(jobs, Subscription, every=timedelta(seconds=10), outside=True)
async def move_subscription(run: Run, *, subscription_id: UUID) -> None:
    """End before changing, and change before renewing (BIL-14)."""
    await move(run, subscriptions.run_due_steps, Subscription, subscription_id)


@when_due(jobs, Cancellation, every=timedelta(seconds=10), outside=True)
async def pay_back_cancellation(run: Run, *, cancellation_id: UUID) -> None:
    """Refund a cancellation once its credit note has its number."""
    await move(run, subscriptions.refund_cancellation, Cancellation, cancellation_id)
