"""Moves of variations, invoices and payments."""

from datetime import datetime

from thenga.domains.contract.tables import (
    Invoice,
    InvoiceStatus,
    PaymentState,
    ReturnReason,
    VariationStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import Conflict

RESUBMITTABLE = (ReturnReason.MISSING_PAPERS, ReturnReason.WRONG_ADDRESS)


def can_be_resubmitted(invoice: Invoice, at: datetime) -> None:
    if invoice.return_code not in RESUBMITTABLE:
        raise Conflict(
            "An invoice returned for this reason cannot be resubmitted. Replace it instead."
        )


class VariationLifecycle(Lifecycle, initial=VariationStatus.DRAFT):
    """An edit after submission returns it to draft; the second signature executes it."""

    submit = Move(VariationStatus.DRAFT, to=VariationStatus.SUBMITTED)
    review = Move(VariationStatus.SUBMITTED, to=VariationStatus.UNDER_REVIEW)
    approve = Move(
        VariationStatus.SUBMITTED, VariationStatus.UNDER_REVIEW, to=VariationStatus.APPROVED
    )
    reject = Move(
        VariationStatus.SUBMITTED,
        VariationStatus.UNDER_REVIEW,
        VariationStatus.APPROVED,
        to=VariationStatus.REJECTED,
    )
    withdraw = Move(
        VariationStatus.DRAFT,
        VariationStatus.SUBMITTED,
        VariationStatus.UNDER_REVIEW,
        VariationStatus.APPROVED,
        to=VariationStatus.WITHDRAWN,
    )
    revise = Move(
        VariationStatus.SUBMITTED,
        VariationStatus.UNDER_REVIEW,
        VariationStatus.APPROVED,
        to=VariationStatus.DRAFT,
        by=By.SYSTEM,
    )
    execute = Move(VariationStatus.APPROVED, to=VariationStatus.EXECUTED, by=By.SYSTEM)

    OPEN = (
        VariationStatus.DRAFT,
        VariationStatus.SUBMITTED,
        VariationStatus.UNDER_REVIEW,
        VariationStatus.APPROVED,
    )


class InvoiceLifecycle(Lifecycle, initial=InvoiceStatus.DRAFT):
    """A reversed payment returns a settled invoice to the status before. Disputes are separate."""

    submit = Move(InvoiceStatus.DRAFT, to=InvoiceStatus.SUBMITTED)
    discard = Move(InvoiceStatus.DRAFT, to=InvoiceStatus.DISCARDED)
    receive = Move(InvoiceStatus.SUBMITTED, to=InvoiceStatus.RECEIVED)
    return_ = Move(InvoiceStatus.RECEIVED, to=InvoiceStatus.RETURNED)
    resubmit = Move(InvoiceStatus.RETURNED, to=InvoiceStatus.SUBMITTED, guard=can_be_resubmitted)
    approve = Move(InvoiceStatus.RECEIVED, to=InvoiceStatus.APPROVED)
    credit = Move(
        InvoiceStatus.SUBMITTED,
        InvoiceStatus.RECEIVED,
        InvoiceStatus.RETURNED,
        InvoiceStatus.APPROVED,
        to=InvoiceStatus.CREDITED,
    )
    settle = Move(
        InvoiceStatus.SUBMITTED,
        InvoiceStatus.RECEIVED,
        InvoiceStatus.RETURNED,
        InvoiceStatus.APPROVED,
        to=InvoiceStatus.SETTLED,
        by=By.SYSTEM,
    )
    reopen_submitted = Move(InvoiceStatus.SETTLED, to=InvoiceStatus.SUBMITTED, by=By.SYSTEM)
    reopen_received = Move(InvoiceStatus.SETTLED, to=InvoiceStatus.RECEIVED, by=By.SYSTEM)
    reopen_returned = Move(InvoiceStatus.SETTLED, to=InvoiceStatus.RETURNED, by=By.SYSTEM)
    reopen_approved = Move(InvoiceStatus.SETTLED, to=InvoiceStatus.APPROVED, by=By.SYSTEM)

    OPEN = (
        InvoiceStatus.SUBMITTED,
        InvoiceStatus.RECEIVED,
        InvoiceStatus.RETURNED,
        InvoiceStatus.APPROVED,
    )
    LIVE = (*OPEN, InvoiceStatus.SETTLED)  # its work counts as billed


class PaymentLifecycle(
    Lifecycle, initial=(PaymentState.RECORDED, PaymentState.CONFIRMED), axis="state"
):
    """Only confirmed money settles an invoice."""

    confirm = Move(PaymentState.RECORDED, to=PaymentState.CONFIRMED)
    withdraw = Move(PaymentState.RECORDED, to=PaymentState.WITHDRAWN)
    reverse = Move(PaymentState.CONFIRMED, to=PaymentState.REVERSED)
