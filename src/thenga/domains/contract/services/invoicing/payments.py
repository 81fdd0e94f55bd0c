"""Payments on an invoice: only confirmed money settles and is booked; a reversal is a new entry
(CON-24)."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles.money import InvoiceLifecycle, PaymentLifecycle
from thenga.domains.contract.services import ledger, workspaces
from thenga.domains.contract.services.invoicing import moves
from thenga.domains.contract.tables import (
    EntryKind,
    Invoice,
    InvoiceStatus,
    Payment,
    PaymentState,
)
from thenga.domains.contract.values.refusals import invalid, told
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, Duplicate, Problem, extensions
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_LIVE = (PaymentState.RECORDED, PaymentState.CONFIRMED)


class PaymentExceeds(Problem):
    """Payments, credits and write-offs cannot exceed the payable amount of the invoice.

    `outstanding` is the amount that can still be recorded.
    """

    code, status, title = "contract-payment-exceeds", 422, "The payment exceeds the invoice"
    members = extensions(outstanding=(Money, "Amount that can still be recorded."))


@dataclass(frozen=True, slots=True)
class PaymentGiven:
    """A payment as the caller sends it."""

    amount: Money
    received_on: date
    bank_reference: str | None = None
    seen_in_bank: bool = False


async def record_payment(work: Work, invoice_id: UUID, given: PaymentGiven) -> Payment:
    """Record a payment; one that was seen in the bank is confirmed at once."""
    invoice = await lock_invoice(work, invoice_id)
    _check_issued(invoice)
    await _check(work, invoice, given)
    invoice.claimed_minor += given.amount.minor
    payment = await work.add(
        Payment(
            organization_id=work.organization_id,
            workspace_id=invoice.workspace_id,
            invoice_id=invoice.id,
            amount_minor=given.amount.minor,
            currency=invoice.currency,
            received_on=given.received_on,
            bank_reference=given.bank_reference,
        )
    )
    if given.seen_in_bank:
        await work.hold(payment)
        await _settle(work, invoice, payment)
    await work.save(invoice)
    _publish(work, invoice, payment)
    return payment


def _check_issued(invoice: Invoice) -> None:
    if invoice.status is InvoiceStatus.DRAFT:
        raise Conflict("Submit the invoice before you record a payment on it.")
    if invoice.status is InvoiceStatus.DISCARDED:
        raise Conflict("This invoice was discarded. Record the payment on another invoice.")


async def _check(work: Work, invoice: Invoice, given: PaymentGiven) -> None:
    if given.amount.currency != invoice.currency:
        raise invalid("/amount/currency", f"Use {invoice.currency}.")
    if given.received_on > local_day(work.now):
        raise invalid("/receivedOn", "The payment date cannot be in the future.")
    if given.bank_reference is not None:
        await _check_new(work, invoice, given.bank_reference)
    room = moves.unclaimed(invoice)
    if invoice.status not in InvoiceLifecycle.OPEN or given.amount > room:
        raise PaymentExceeds(f"Only {room} can still be recorded.", outstanding=told(room))


async def _check_new(work: Work, invoice: Invoice, reference: str) -> None:
    known = await work.query(
        "SELECT id FROM contract.payment WHERE organization_id = $1 AND invoice_id = $2 "
        "AND bank_reference = $3 AND state = ANY($4)",
        *(work.organization_id, invoice.id, reference, [state.value for state in _LIVE]),
    )
    if known:
        raise Duplicate(
            "This invoice already has a payment with this bank reference.",
            existing={"id": str(known[0]["id"])},
            field="bankReference",
        )


async def confirm_payment(work: Work, payment_id: UUID) -> Payment:
    """The money is in the bank: it is booked and counts."""
    payment, invoice = await _lock(work, payment_id)
    if payment.state is not PaymentState.CONFIRMED:
        await _settle(work, invoice, payment)
        await work.save(invoice)
        _publish(work, invoice, payment)
    return payment


async def withdraw_payment(work: Work, payment_id: UUID, reason_code: str | None) -> Payment:
    """Take back a payment that was recorded by mistake."""
    payment, invoice = await _lock(work, payment_id)
    if PaymentLifecycle.withdraw(payment, at=work.now):
        payment.reason_code = reason_code
        invoice.claimed_minor -= payment.amount_minor
        await work.save(payment)
        await work.save(invoice)
        _publish(work, invoice, payment)
    return payment


async def reverse_payment(work: Work, payment_id: UUID, reason_code: str) -> Payment:
    """A confirmed payment does not count any more; its invoice is open again."""
    payment, invoice = await _lock(work, payment_id)
    if not PaymentLifecycle.reverse(payment, at=work.now):
        return payment
    amount = Money(payment.amount_minor, payment.currency)
    was_settled = invoice.status is InvoiceStatus.SETTLED
    payment.reason_code = reason_code
    invoice.paid_minor -= amount.minor
    moves.reopen(work, invoice)
    await work.save(payment)
    await work.save(invoice)
    await ledger.post(
        work,
        ledger.payment_booking(amount).reversed(EntryKind.REVERSAL),
        workspace_id=payment.workspace_id,
        source_id=payment.id,
        key=f"reversal:{payment.id}",
    )
    work.publish(
        public.PaymentReversed(
            organization_id=payment.organization_id,
            workspace_id=payment.workspace_id,
            payment_id=payment.id,
            invoice_id=invoice.id,
            amount=amount,
            reason_code=reason_code,
            outstanding=moves.outstanding(invoice),
        )
    )
    if was_settled:
        moves.publish_change(work, invoice, "reopened")
    return payment


async def _settle(work: Work, invoice: Invoice, payment: Payment) -> None:
    """Turn a claim into money: book it, and settle the invoice where nothing is left."""
    PaymentLifecycle.confirm(payment, at=work.now)
    if invoice.received_on is not None:
        payment.days_from_receipt = (payment.received_on - invoice.received_on).days
    await work.save(payment)
    amount = Money(payment.amount_minor, payment.currency)
    invoice.claimed_minor -= amount.minor
    invoice.paid_minor += amount.minor
    moves.settle(work, invoice)
    await ledger.post(
        work,
        ledger.payment_booking(amount),
        workspace_id=invoice.workspace_id,
        source_id=payment.id,
        key=f"payment:{payment.id}",
    )


async def _lock(work: Work, payment_id: UUID) -> tuple[Payment, Invoice]:
    """The payment with its invoice, both locked in the order of all money."""
    known = await work.get(Payment, payment_id)
    invoice = await lock_invoice(work, known.invoice_id, beside=True)
    return await work.lock(Payment, payment_id), invoice


async def lock_invoice(work: Work, invoice_id: UUID, *, beside: bool = True) -> Invoice:
    """The locked invoice of a contract that is open; the contract is locked first."""
    known = await work.get(Invoice, invoice_id)
    await workspaces.workspace_for(work, known.workspace_id)
    return await work.lock(Invoice, invoice_id, beside=beside)


def _publish(work: Work, invoice: Invoice, payment: Payment) -> None:
    work.publish(
        public.PaymentRecorded(
            organization_id=payment.organization_id,
            workspace_id=payment.workspace_id,
            payment_id=payment.id,
            invoice_id=invoice.id,
            amount=Money(payment.amount_minor, payment.currency),
            state=payment.state.value,
            received_on=payment.received_on,
            outstanding=moves.outstanding(invoice),
            settled=invoice.status is InvoiceStatus.SETTLED,
            days_from_receipt=payment.days_from_receipt,
        )
    )
    if invoice.status is InvoiceStatus.SETTLED:
        moves.publish_change(work, invoice, "settled")
