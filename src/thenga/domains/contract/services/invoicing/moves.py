"""What happens to a submitted invoice: receipt, return, approval, dispute, credit and write-off.

Every change of money locks the contract, its counters and then the invoice.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles.money import InvoiceLifecycle
from thenga.domains.contract.services import ledger, workspaces
from thenga.domains.contract.services.invoicing import drafts, payment_clock, submission
from thenga.domains.contract.services.invoicing.arithmetic import (
    Amounts,
    CreditShares,
    credit_booking,
    credit_shares,
)
from thenga.domains.contract.services.invoicing.payment_clock import Bucket, ClockRun
from thenga.domains.contract.services.workspaces import Proof
from thenga.domains.contract.tables import (
    CreditNote,
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceStatus,
    Milestone,
    ReturnReason,
    Workspace,
    WorkspaceMoney,
)
from thenga.domains.contract.values.refusals import invalid
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Conflict, InvalidTransition, RuleViolated
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class InvoiceMove:
    """A move with what it needs; fields that a verb does not use are ignored by it."""

    verb: str
    on: date | None = None
    reason_code: str | None = None
    reason: str | None = None
    amount: Money | None = None
    upheld: bool = True
    proof: Proof | None = None


def outstanding(invoice: Invoice) -> Money:
    return Money(invoice.outstanding_minor, invoice.currency)


def unclaimed(invoice: Invoice) -> Money:
    """The outstanding amount without payments that are not confirmed yet (CON-24)."""
    return outstanding(invoice) - Money(invoice.claimed_minor, invoice.currency)


async def receive(work: Work, invoice: Invoice, workspace: Workspace, on: date | None) -> bool:
    """Start the payment clock at the day on which the buyer received the invoice (CON-21)."""
    if not InvoiceLifecycle.receive(invoice, at=work.now):
        return False
    today = local_day(work.now)
    received = on or today
    earliest = invoice.submitted_on or received
    if not earliest <= received <= today:
        raise invalid("/move/on", f"Choose a day from {earliest} to {today}.")
    history = [ClockRun.of_row(run) for run in invoice.clock_history]
    last = history[-1].returned_on if history else None
    if last is not None and received < last:
        raise invalid(
            "/move/on", f"The invoice was returned on {last}. Choose that day or a later one."
        )
    days = Terms.of_row(workspace.terms).payment_days
    history, due = payment_clock.start_clock(history, received, days)
    invoice.clock_history = [run.to_row() for run in history]
    invoice.received_on, invoice.due_on, invoice.return_code = received, due, None
    invoice.told_bucket = Bucket.NOT_DUE
    watch(invoice)
    return True


async def return_invoice(work: Work, invoice: Invoice, move: InvoiceMove) -> bool:
    """Void the running clock: the buyer sent the invoice back (CON-21)."""
    if not InvoiceLifecycle.return_(invoice, at=work.now):
        return False
    if move.reason_code is None:
        raise invalid("/move/reasonCode", "Say why the buyer returned it.")
    today = local_day(work.now)
    returned = move.on or today
    if not (invoice.received_on or returned) <= returned <= today:
        raise invalid("/move/on", f"Choose a day from {invoice.received_on} to {today}.")
    reason = ReturnReason(move.reason_code)
    history = [ClockRun.of_row(run) for run in invoice.clock_history]
    history = payment_clock.stop_clock(history, returned, reason)
    invoice.clock_history = [run.to_row() for run in history]
    invoice.received_on = invoice.due_on = invoice.told_bucket = None
    invoice.return_code = reason
    watch(invoice)
    return True


async def approve(work: Work, invoice: Invoice, workspace: Workspace, move: InvoiceMove) -> bool:
    """The buyer approved the invoice; an amount below the payable one leaves a dispute."""
    if not InvoiceLifecycle.approve(invoice, at=work.now):
        return False
    payable = Money(invoice.payable_minor, invoice.currency)
    approved = move.amount or payable
    check_amount(invoice, approved, payable, pointer="/move/amount")
    confirmed = await workspaces.confirm(
        work,
        workspace.id,
        subject=("invoice", invoice.id, invoice.version),
        decision="approve",
        statement={"number": invoice.number, "approved": approved.amount},
        proof=move.proof,
    )
    invoice.strength = confirmed.strength
    rest = min(payable - approved, outstanding(invoice))
    if rest:
        _open_dispute(work, invoice, rest, move.reason_code or "not_approved")
    return True


def dispute(work: Work, invoice: Invoice, move: InvoiceMove) -> bool:
    """Take an amount out of what is overdue until the dispute is resolved."""
    if invoice.status not in (InvoiceStatus.RECEIVED, InvoiceStatus.APPROVED):
        raise _refused(invoice, "dispute", "received or approved")
    amount = move.amount or outstanding(invoice)
    check_amount(invoice, amount, outstanding(invoice), pointer="/move/amount")
    if move.reason_code is None:
        raise invalid("/move/reasonCode", "Say why the buyer disputes it.")
    if (invoice.disputed_minor, invoice.dispute_code) == (amount.minor, move.reason_code):
        return False
    _open_dispute(work, invoice, amount, move.reason_code)
    return True


def _open_dispute(work: Work, invoice: Invoice, amount: Money, code: str) -> None:
    invoice.disputed_minor, invoice.dispute_code = amount.minor, code
    invoice.dispute_since = invoice.dispute_since or local_day(work.now)
    watch(invoice)


async def resolve(work: Work, invoice: Invoice, workspace: Workspace, move: InvoiceMove) -> bool:
    """End a dispute: upheld, the buyer owes it since the first due date; else it is credited."""
    if not invoice.disputed_minor:
        return False
    disputed = Money(invoice.disputed_minor, invoice.currency)
    end_dispute(invoice)
    if not move.upheld:
        amount = move.amount or disputed
        check_amount(invoice, amount, disputed, pointer="/move/amount")
        await credit(work, invoice, workspace, amount, move)
    watch(invoice)
    return True


def end_dispute(invoice: Invoice) -> None:
    invoice.disputed_minor, invoice.dispute_code, invoice.dispute_since = 0, None, None


async def credit(
    work: Work, invoice: Invoice, workspace: Workspace, wanted: Money | None, move: InvoiceMove
) -> CreditNote:
    """Issue a credit note that gives back its share of work, retention, advance and VAT."""
    if invoice.status not in InvoiceLifecycle.OPEN:
        raise _refused(invoice, "credit", "submitted and not settled")
    amount = _unclaimed_part(invoice, wanted)
    money = await ledger.lock_money(work, workspace.id)
    shares = credit_shares(
        amounts_of(invoice), amount, before=Money(invoice.credited_minor, invoice.currency)
    )
    _count_back(money, invoice.kind, shares)
    ledger.refresh_cap(money, Terms.of_row(workspace.terms))
    await work.save(money)
    await _return_work(work, invoice, shares.work.minor)
    invoice.credited_minor += amount.minor
    note = await _issue_note(work, invoice, shares, move)
    settle(work, invoice)
    await ledger.post(
        work,
        credit_booking(invoice.kind, shares),
        workspace_id=workspace.id,
        source_id=note.id,
        key=f"credit_note:{note.id}",
    )
    return note


def amounts_of(invoice: Invoice) -> Amounts:
    """The figures of a submitted invoice."""
    figures = (Money(getattr(invoice, f"{one}_minor"), invoice.currency) for one in _FIGURES)
    return Amounts(*figures)


_FIGURES = ("work", "retained", "recovered", "consideration", "net", "vat", "payable")


def _count_back(money: WorkspaceMoney, kind: InvoiceKind, shares: CreditShares) -> None:
    """Move the counters back. What others rest on cannot be taken away."""
    money.billed_minor -= shares.work.minor
    money.retained_minor -= shares.retained.minor
    money.recovered_minor -= shares.recovered.minor
    if kind is InvoiceKind.ADVANCE:
        money.advance_billed_minor -= shares.amount.minor
    elif kind is InvoiceKind.RETENTION_RELEASE:
        money.released_minor -= shares.amount.minor
    if money.advance_billed_minor < money.recovered_minor:
        raise RuleViolated(
            "Part of this advance was recovered by later invoices. Credit those first.",
            rule="CON-16",
        )
    if money.retained_minor < money.released_minor:
        raise RuleViolated(
            "The retention of this invoice was already released. Credit the release first.",
            rule="CON-17",
        )


async def _return_work(work: Work, invoice: Invoice, minor: int) -> None:
    """Give work back to the milestones, from the last line on."""
    lines: list[InvoiceLine] = await drafts.lines_of(work, invoice.id)
    back: dict[UUID, int] = {}
    for line in reversed(lines):
        part = min(minor, line.amount_minor - line.credited_minor)
        if not part or line.milestone_id is None:
            continue
        await work.hold(line)
        line.credited_minor += part
        await work.save(line)
        back[line.milestone_id] = back.get(line.milestone_id, 0) + part
        minor -= part
    for milestone_id in sorted(back):
        milestone = await work.lock(Milestone, milestone_id, beside=True)
        milestone.billed_minor -= back[milestone_id]
        await work.save(milestone)


async def _issue_note(
    work: Work, invoice: Invoice, shares: CreditShares, move: InvoiceMove
) -> CreditNote:
    printed: dict[str, Any] = dict(invoice.printed or {}) | {"invoice_number": invoice.number}
    note = await work.add(
        CreditNote(
            organization_id=invoice.organization_id,
            workspace_id=invoice.workspace_id,
            invoice_id=invoice.id,
            number=await submission.number_of(
                work, "credit_note", "CN", is_sandbox=bool(printed.get("specimen"))
            ),
            reason_code=move.reason_code or move.verb,
            explanation=move.reason or "Correction",
            currency=invoice.currency,
            rate_percent=invoice.rate_percent,
            amount_minor=shares.amount.minor,
            consideration_minor=shares.consideration.minor,
            net_minor=shares.net.minor,
            vat_minor=shares.vat.minor,
            work_minor=shares.work.minor,
            issued_on=local_day(work.now),
            issued_at=work.now,
            printed=printed,
        )
    )
    if printed.get("seller"):
        work.enqueue(submission.render_document, document_id=note.id)
    return note


async def replace(work: Work, invoice: Invoice, workspace: Workspace, move: InvoiceMove) -> None:
    """Credit the whole invoice and begin a new draft with the same lines."""
    if invoice.paid_minor or invoice.claimed_minor or invoice.written_off_minor:
        raise Conflict("This invoice has payments or write-offs. Credit the rest instead.")
    await credit(work, invoice, workspace, outstanding(invoice), move)
    lines = [
        drafts.line_given(line, invoice.currency)
        for line in await drafts.lines_of(work, invoice.id)
    ]
    copied = {"supply_date": invoice.supply_date, "note": invoice.note}
    await drafts.create_draft(
        work,
        workspace.id,
        kind=invoice.kind,
        lines=lines,
        fields=copied | {"replaces_id": invoice.id},
    )


async def write_off(
    work: Work, invoice: Invoice, workspace: Workspace, wanted: Money | None
) -> None:
    """Expect part of an invoice no longer. It stays claimed, so the final account shows it."""
    if invoice.status not in InvoiceLifecycle.OPEN:
        raise _refused(invoice, "write_off", "submitted and not settled")
    amount = _unclaimed_part(invoice, wanted)
    before = invoice.written_off_minor
    invoice.written_off_minor += amount.minor
    settle(work, invoice)
    await ledger.post(
        work,
        ledger.write_off_booking(amount),
        workspace_id=workspace.id,
        source_id=invoice.id,
        key=f"write_off:{invoice.id}:{before}",
    )


def settle(work: Work, invoice: Invoice) -> None:
    """Close an invoice of which nothing is outstanding; shrink a dispute to what is."""
    rest = invoice.outstanding_minor
    if invoice.disputed_minor > rest:
        invoice.disputed_minor = rest
    if not rest:
        end_dispute(invoice)
        invoice.settled_from = invoice.status.value
        is_all_credited = invoice.credited_minor == invoice.payable_minor
        move = InvoiceLifecycle.credit if is_all_credited else InvoiceLifecycle.settle
        move(invoice, at=work.now)
    watch(invoice)


def reopen(work: Work, invoice: Invoice) -> None:
    """Return a settled invoice to the status before (CON-24)."""
    if invoice.status is InvoiceStatus.SETTLED:
        InvoiceLifecycle.moves[f"reopen_{invoice.settled_from}"](invoice, at=work.now)
        invoice.settled_from = None
    watch(invoice)


def watch(invoice: Invoice) -> None:
    """When the age of the invoice changes next, if anything of it can be overdue (CON-23)."""
    is_open = invoice.status in InvoiceLifecycle.OPEN
    can_be_overdue = invoice.outstanding_minor > invoice.disputed_minor
    invoice.next_check_at = None
    if is_open and can_be_overdue and invoice.due_on is not None:
        told = Bucket(invoice.told_bucket or Bucket.NOT_DUE)
        invoice.next_check_at = payment_clock.next_step(invoice.due_on, told)


def _refused(invoice: Invoice, verb: str, needed: str) -> InvalidTransition:
    return not_possible(
        f"The status is {invoice.status}; {verb} is only possible for an invoice that is {needed}.",
        status=invoice.status,
        operation=verb,
        allowed=InvoiceLifecycle.open(invoice),
    )


def check_amount(invoice: Invoice, amount: Money, most: Money, *, pointer: str) -> None:
    """Refuse an amount in another currency, of nothing, or above what there is."""
    if amount.currency != invoice.currency:
        raise invalid(pointer, f"Use {invoice.currency}.")
    if not Money(0, invoice.currency) < amount <= most:
        raise invalid(pointer, f"Send an amount above 0 and up to {most}.")


def _unclaimed_part(invoice: Invoice, wanted: Money | None) -> Money:
    """The amount to credit or write off: what was asked for, else all that no payment claims."""
    room = unclaimed(invoice)
    claimed = Money(invoice.claimed_minor, invoice.currency)
    if claimed and not room:
        raise Conflict(
            f"Payments of {claimed} are not confirmed yet and cover the rest of this invoice. "
            "Confirm or withdraw them first."
        )
    if claimed and wanted is not None and wanted.currency == room.currency and wanted > room:
        raise invalid(
            "/move/amount",
            f"Send an amount of up to {room}. Payments of {claimed} are not confirmed yet.",
        )
    amount = wanted or room
    check_amount(invoice, amount, room, pointer="/move/amount")
    return amount


def publish_change(work: Work, invoice: Invoice, change: str) -> None:
    disputed = Money(invoice.disputed_minor, invoice.currency)
    work.publish(
        public.InvoiceChanged(
            organization_id=invoice.organization_id,
            workspace_id=invoice.workspace_id,
            invoice_id=invoice.id,
            number=invoice.number or "",
            change=change,
            status=invoice.status.value,
            received_on=invoice.received_on,
            due_on=invoice.due_on,
            expected_on=invoice.due_on,
            outstanding=outstanding(invoice),
            disputed=disputed or None,
            strength=invoice.strength,
        )
    )
