"""Jobs of payments and refunds: calls to providers, and their reports."""

from datetime import timedelta
from uuid import UUID

import asyncpg

from thenga.domains.billing.adapters.provider import Unreadable
from thenga.domains.billing.adapters.providers import Providers, ask_provider
from thenga.domains.billing.jobs.declared import BROKEN, jobs
from thenga.domains.billing.services import (
    payments,
    settlement,
)
from thenga.domains.billing.tables import (
    Payment,
    PaymentMethod,
    Refund,
)
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run

# Errors that the values of a verified report can still cause.
_ODD = (*BROKEN, asyncpg.DataError, ArithmeticError, LookupError, TypeError, ValueError)


@jobs.implements(payments.start_payment)
async def start_payment(run: Run, *, payment_id: UUID) -> None:
    """Ask the provider for the checkout page."""
    async with run.reading() as read:
        order = await payments.checkout_order(read, payment_id)
    if order is None:
        return
    answer = await ask_provider(run.adapter(Providers).of(order.provider).start(order))
    async with run.working() as work:
        await settlement.record_answer(
            work, payment_id, answer, source="answer", reference=order.reference
        )


@jobs.implements(payments.charge_payment)
async def charge_payment(run: Run, *, payment_id: UUID) -> None:
    """Charge a saved method with the payment's own key. A provider without keys is only polled if
    the first attempt was interrupted."""
    async with run.reading() as read:
        order = await payments.charge_order(read, payment_id)
    if order is None:
        return
    provider = run.adapter(Providers).of(order.provider)
    only_ask = run.lease.attempt > 0 and not provider.repeats
    answer = await ask_provider(provider.fetch(order) if only_ask else provider.charge(order))
    async with run.working() as work:
        await settlement.record_answer(
            work, payment_id, answer, source="answer", reference=order.reference
        )


@when_due(jobs, Payment, every=timedelta(seconds=10), outside=True)
async def poll_payment(run: Run, *, payment_id: UUID) -> None:
    """Poll the provider for a payment. No answer is not a failure (BIL-32)."""
    async with run.reading() as read:
        found = await payments.next_order_step(read, payment_id)
    if found.step is payments.OrderStep.EXPIRE:
        async with run.working() as work:
            await payments.expire_payment(work, payment_id)
    if found.order is None:
        return
    if found.step is payments.OrderStep.CHARGE:
        async with run.working() as work:
            await payments.claim_charge(work, payment_id)
    provider = run.adapter(Providers).of(found.order.provider)
    ask = {
        payments.OrderStep.START: provider.start,
        payments.OrderStep.CHARGE: provider.charge,
        payments.OrderStep.ASK: provider.fetch,
    }[found.step]
    answer = await ask_provider(ask(found.order))
    async with run.working() as work:
        await settlement.record_answer(
            work, payment_id, answer, source="poll", reference=found.order.reference
        )


@jobs.implements(payments.send_refund)
async def send_refund(run: Run, *, refund_id: UUID) -> None:
    """Send a refund with its own key. It is marked as sent before the call, so an interrupted one
    is only polled."""
    async with run.reading() as read:
        provider = run.adapter(Providers).of((await read.get(Refund, refund_id)).provider)
    async with run.working() as work:
        order = await payments.begin_refund(work, refund_id)
    if order is None:
        return
    answer = await ask_provider(provider.refund(order))
    async with run.working() as work:
        await payments.record_refund_answer(work, refund_id, answer, source="answer")


@when_due(jobs, Refund, every=timedelta(seconds=10), outside=True)
async def poll_refund(run: Run, *, refund_id: UUID) -> None:
    """Poll the provider for a refund. No answer is not a failure (BIL-32)."""
    async with run.reading() as read:
        order = await payments.refund_query(read, refund_id)
    if order is None:
        return
    answer = await ask_provider(run.adapter(Providers).of(order.provider).fetch_refund(order))
    async with run.working() as work:
        await payments.record_refund_answer(work, refund_id, answer, source="poll")


@jobs.implements(settlement.apply_callback)
async def apply_callback(run: Run, *, callback_id: UUID) -> None:
    """Apply a callback as the system login, which alone can find its organization. One that cannot
    be read or applied is quarantined, because a retry would fail again (SEC-68)."""
    async with run.reading() as read:
        waits = await settlement.pending_callback(read, callback_id)
    if waits is None:
        return
    provider = run.adapter(Providers).of(waits.provider)
    try:
        stated = provider.reports(waits.content)
    except Unreadable as odd:
        async with run.working() as work:
            await settlement.quarantine_callback(work, callback_id, note=f"unreadable: {odd}")
        return
    confirmed = not stated or await provider.confirm(waits.content, sender=waits.sender)
    try:
        async with run.working() as work:
            report = stated[0] if stated else None
            await settlement.apply_callback_report(work, callback_id, report, confirmed=confirmed)
    except _ODD as broken:
        async with run.working() as work:
            note = f"not applied: {type(broken).__name__}"
            await settlement.quarantine_callback(work, callback_id, note=note)


@when_due(jobs, PaymentMethod, every=timedelta(minutes=1))
async def move_payment_method(work: Work, *, method_id: UUID) -> None:
    """Announce the expiry of a card 30 days before, and expire it after its last day."""
    await payments.run_due_method_steps(work, method_id)


@jobs.every(timedelta(hours=6))
async def forget_callback_contents(work: Work) -> None:
    """Delete the bytes of callbacks after 90 days."""
    await settlement.delete_old_contents(work)
