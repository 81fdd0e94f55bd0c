"""What Billing does later and what time does in it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg

from thenga.domains.billing.adapters.provider import Odd
from thenga.domains.billing.adapters.providers import Providers, heard
from thenga.domains.billing.services import (
    accounts,
    customer,
    dunning,
    entitlements,
    invoicing,
    payments,
    plan_admin,
    printing,
    settlement,
    subscriptions,
    trials,
    usage,
)
from thenga.domains.billing.tables import (
    Cancellation,
    EntitlementSet,
    Grant,
    Invoice,
    Payment,
    PaymentFailure,
    PaymentMethod,
    Refund,
    Reservation,
    Subscription,
    Trial,
)
from thenga.domains.notification.public import Recipient, Requests
from thenga.domains.organization.public import Clocks
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.resealing import reseals
from thenga.kernel.jobs.run import Run

jobs = Jobs("billing")
reseal_columns = reseals(jobs)

# What tables refuse, and what triggers do: a booking that does not sum to 0, a day billed twice.
_BROKEN = (asyncpg.IntegrityConstraintViolationError, asyncpg.RaiseError)
# What a statement that was verified can still cause by what it says.
_ODD = (*_BROKEN, asyncpg.DataError, ArithmeticError, LookupError, TypeError, ValueError)


async def _move(
    run: Run, step: Callable[[Work, UUID], Awaitable[None]], row: type[accounts.Timed], row_id: UUID
) -> None:
    """Let time move a row that money hangs on; an invariant that this would break parks the
    account, in a unit of work of its own because the first one is lost (BIL-51)."""
    try:
        async with run.working() as work:
            await step(work, row_id)
    except _BROKEN as broken:
        async with run.working() as work:
            await accounts.park_broken(work, row, row_id, broken=str(broken))


@jobs.implements(plan_admin.offer_plan)
async def offer_plan(work: Work, *, plan_version_id: UUID) -> None:
    """The catalogue is written by the system login only."""
    await plan_admin.publish_to_catalogue(work, plan_version_id)


@jobs.every(timedelta(minutes=1))
async def look_after_plans(work: Work) -> None:
    """Versions that are not sold any more are written down as such, and counted."""
    await plan_admin.refresh_versions(work)


@when_due(jobs, Trial, every=timedelta(seconds=10), outside=True)
async def move_trial(run: Run, *, trial_id: UUID) -> None:
    """A trial nears its end, is bought, or is over."""
    await _move(run, trials.run_due_trial_steps, Trial, trial_id)


@jobs.every(timedelta(minutes=10))
async def verify_ledger(work: Work) -> None:
    """All books are checked once a day, after two in the morning."""
    await accounts.verify_ledger(work)


@jobs.every(timedelta(hours=1))
async def look_after_verifications(work: Work) -> None:
    """A night without a check is told as one that failed."""
    await accounts.report_missing_check(work)


# What is held and used.


@when_due(jobs, EntitlementSet, every=timedelta(seconds=10))
async def follow_entitlements(work: Work, *, entitlement_set_id: UUID) -> None:
    """A set is right at every read; this writes down and tells what time has made of it."""
    await entitlements.refresh(work, reason="time_passed")


@when_due(jobs, Grant, every=timedelta(seconds=10))
async def lapse_grant(work: Work, *, grant_id: UUID) -> None:
    """Goodwill ends by itself."""
    await entitlements.expire_grant(work, grant_id)


@when_due(jobs, Reservation, every=timedelta(seconds=10))
async def release_reservation(work: Work, *, reservation_id: UUID) -> None:
    """What nobody settled in time is free again."""
    await usage.expire_reservation(work, reservation_id)


@jobs.every(timedelta(days=7))
async def find_old_usage(work: Work) -> None:
    """Records are kept for 13 months; each organization's are folded in a job of its own."""
    for organization_id in await usage.due_for_compaction(work, limit=1000):
        work.enqueue(usage.compact_usage, organization_id=organization_id)


@jobs.implements(usage.compact_usage)
async def compact_usage(work: Work) -> None:
    """Nobody else may take a record away, so the system login does it."""
    await usage.compact(work)


@jobs.every(timedelta(days=1))
async def forget_usage_days(work: Work) -> None:
    """Daily sums are kept for five years."""
    await usage.delete_old_days(work)


# --- documents ------------------------------------------------------------------------------------


@jobs.implements(invoicing.issue_documents)
async def issue_documents(work: Work, *, seller: str, book: str) -> None:
    """Series belong to the platform, so the system login gives the numbers (BIL-25)."""
    await invoicing.issue_next(work, seller=seller, book=book)


# --- recovery -------------------------------------------------------------------------------------


@when_due(jobs, PaymentFailure, every=timedelta(seconds=10), outside=True)
async def move_failure(run: Run, *, failure_id: UUID) -> None:
    """The next step of a recovery: a retry, a notice, the end."""
    await _move(run, dunning.run_due_steps, PaymentFailure, failure_id)


@jobs.implements(customer.tell_payer)
async def tell_payer(run: Run, *, topic: str, about: UUID, number: int) -> None:
    """Hand a letter over; its facts are read now, so no address waited in the queue."""
    async with run.reading() as read:
        letter = await subscriptions.compose_letter(read, topic, about)
    if letter is None:
        return
    await run.adapter(Requests).accept(
        topic_code=letter.topic,
        recipients=[Recipient(address=address) for address in letter.addresses],
        facts=letter.facts,
        sealed_facts={},
        key=run.key,
    )
    async with run.working() as work:
        told = {"topic": topic, "number": number}
        work.note("billing.payer.told", (topic.removeprefix("billing."), about), told)


# --- payments -------------------------------------------------------------------------------------


@jobs.implements(payments.start_payment)
async def start_payment(run: Run, *, payment_id: UUID) -> None:
    """Ask the provider where the customer shall pay."""
    async with run.reading() as read:
        order = await payments.checkout_order(read, payment_id)
    if order is None:
        return
    answer = await heard(run.adapter(Providers).of(order.provider).start(order))
    async with run.working() as work:
        await settlement.record_answer(
            work, payment_id, answer, source="answer", reference=order.reference
        )


@jobs.implements(payments.charge_payment)
async def charge_payment(run: Run, *, payment_id: UUID) -> None:
    """Charge a method on file, under the payment's own key; a provider that knows no keys is only
    asked when the first attempt was cut off."""
    async with run.reading() as read:
        order = await payments.charge_order(read, payment_id)
    if order is None:
        return
    provider = run.adapter(Providers).of(order.provider)
    only_ask = run.lease.attempt > 0 and not provider.repeats
    answer = await heard(provider.fetch(order) if only_ask else provider.charge(order))
    async with run.working() as work:
        await settlement.record_answer(
            work, payment_id, answer, source="answer", reference=order.reference
        )


@when_due(jobs, Payment, every=timedelta(seconds=10), outside=True)
async def poll_payment(run: Run, *, payment_id: UUID) -> None:
    """Ask the provider what became of a payment; silence is no failure (BIL-32)."""
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
    answer = await heard(ask(found.order))
    async with run.working() as work:
        await settlement.record_answer(
            work, payment_id, answer, source="poll", reference=found.order.reference
        )


@jobs.implements(payments.send_refund)
async def send_refund(run: Run, *, refund_id: UUID) -> None:
    """Ask the provider to pay back, under the refund's own key; said before it is done, because a
    refund whose outcome nobody knows is only asked for."""
    async with run.reading() as read:
        provider = run.adapter(Providers).of((await read.get(Refund, refund_id)).provider)
    async with run.working() as work:
        order = await payments.begin_refund(work, refund_id)
    if order is None:
        return
    answer = await heard(provider.refund(order))
    async with run.working() as work:
        await payments.record_refund_answer(work, refund_id, answer, source="answer")


@when_due(jobs, Refund, every=timedelta(seconds=10), outside=True)
async def poll_refund(run: Run, *, refund_id: UUID) -> None:
    """Ask the provider what became of a refund; silence is no failure (BIL-32)."""
    async with run.reading() as read:
        order = await payments.refund_query(read, refund_id)
    if order is None:
        return
    answer = await heard(run.adapter(Providers).of(order.provider).fetch_refund(order))
    async with run.working() as work:
        await payments.record_refund_answer(work, refund_id, answer, source="poll")


@jobs.implements(settlement.apply_callback)
async def apply_callback(run: Run, *, callback_id: UUID) -> None:
    """Let a callback have its effect; whose it is only the system login can find out. One that
    cannot be read or applied is quarantined, because a repetition would fail again (SEC-68)."""
    async with run.reading() as read:
        waits = await settlement.pending_callback(read, callback_id)
    if waits is None:
        return
    provider = run.adapter(Providers).of(waits.provider)
    try:
        stated = provider.statements(waits.content)
    except Odd as odd:
        async with run.working() as work:
            await settlement.set_aside(work, callback_id, note=f"unreadable: {odd}")
        return
    confirmed = not stated or await provider.confirm(waits.content, sender=waits.sender)
    try:
        async with run.working() as work:
            statement = stated[0] if stated else None
            await settlement.apply_report(work, callback_id, statement, confirmed=confirmed)
    except _ODD as broken:
        async with run.working() as work:
            note = f"not applied: {type(broken).__name__}"
            await settlement.set_aside(work, callback_id, note=note)


@when_due(jobs, PaymentMethod, every=timedelta(minutes=1))
async def move_payment_method(work: Work, *, method_id: UUID) -> None:
    """A card runs out: told thirty days before, over after its last day."""
    await payments.run_due_method_steps(work, method_id)


@jobs.every(timedelta(hours=6))
async def forget_callback_contents(work: Work) -> None:
    """The bytes of callbacks are kept for ninety days."""
    await settlement.forget_contents(work)


@jobs.implements(invoicing.render_pdf)
async def render_pdf(run: Run, *, document_id: UUID) -> None:
    """Typesetting takes its time, so no transaction waits for it."""
    async with run.reading() as read:
        order = await printing.sheets_to_print(read, document_id)
    if order is None:
        return
    made = {
        one: await asyncio.to_thread(printing.typeset, sheet, made_at=order.made_at)
        for one, sheet in order.sheets.items()
    }
    async with run.working() as work:
        await printing.store_pdfs(work, document_id, made)


@jobs.implements(customer.park_account)
async def park_account(work: Work, *, reason: str) -> None:
    """Found by the check of the night (BIL-51)."""
    await accounts.park(work, reason=reason)


@jobs.implements(customer.free_account)
async def free_account(work: Work, *, reason: str) -> None:
    """The check of a later night found nothing any more."""
    await accounts.unpark(work, reason=reason)


@jobs.every(timedelta(minutes=1))
async def look_after_documents(work: Work) -> None:
    """A document that a failed job left behind gets its number and its print."""
    await printing.repair_stuck(work)


@when_due(jobs, Invoice, every=timedelta(seconds=30), outside=True)
async def move_invoice(run: Run, *, invoice_id: UUID) -> None:
    """A month is over, what was sent is late by now, or nobody collects what is owed."""
    await _move(run, dunning.run_due_invoice_steps, Invoice, invoice_id)


# --- subscriptions --------------------------------------------------------------------------------


@when_due(jobs, Subscription, every=timedelta(seconds=10), outside=True)
async def move_subscription(run: Run, *, subscription_id: UUID) -> None:
    """First what ends, then what changes, last what renews (BIL-14)."""
    await _move(run, subscriptions.run_due_steps, Subscription, subscription_id)


@when_due(jobs, Cancellation, every=timedelta(seconds=10), outside=True)
async def pay_back_cancellation(run: Run, *, cancellation_id: UUID) -> None:
    """Money goes back once the credit note has its number."""
    await _move(run, subscriptions.refund_cancellation, Cancellation, cancellation_id)


# --- the clock of a sandbox -----------------------------------------------------------------------


@jobs.implements(accounts.advance_clock)
async def advance_clock(run: Run, *, clock_id: UUID, turn: int) -> None:
    """One stop of a jump: do what is due, or move the clock to where something will be."""
    async with run.reading() as read:
        found = await accounts.look(read, clock_id)
        clocks, organization_id = read.port(Clocks), read.organization_id
    if found.move_to is not None:
        ahead = accounts.ahead_seconds(found.move_to, run.host.now())
        await clocks.move(organization_id=organization_id, ahead_seconds=ahead)
    async with run.working() as work:
        for row, row_id in found.due:
            job, name = jobs.moved[row]
            named: dict[str, Any] = {name: row_id}
            work.enqueue(job, **named)
        await accounts.go_on(work, clock_id, found)
