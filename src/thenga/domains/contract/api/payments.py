"""Payments of the buyer."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.contract.api.amounts import PositiveMoney
from thenga.domains.contract.api.invoice_views import ContractPaymentView
from thenga.domains.contract.api.invoices import InvoiceId
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import invoicing, workspaces
from thenga.domains.contract.services.invoicing import PaymentExceeds, PaymentGiven
from thenga.domains.contract.services.workspaces import ContractOver
from thenga.domains.contract.tables import Payment, PaymentState
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    Duplicate,
    Forbidden,
    InvalidTransition,
    RuleViolated,
    StepUpRequired,
)
from thenga.kernel.http.bodies import Body, PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, text

router = make_router("Contract / Payments")

PaymentId = Annotated[UUID, Path(alias="paymentId", description="ID of the payment.")]


class RecordContractPayment(Body):
    """A payment by the buyer on an invoice."""

    amount: Annotated[PositiveMoney, Field(description="Amount received.")]
    received_on: Annotated[Day, Field(description="Date on which the money arrived.")]
    bank_reference: Annotated[
        Annotated[str, text(1, 140)] | None,
        Field(description="Reference on the bank statement, unique per invoice."),
    ] = None
    seen_in_bank: Annotated[
        bool, Field(description="Whether the money is in the bank, which confirms it at once.")
    ] = False


class MoveContractPayment(Body):
    """A move of a payment."""

    verb: Annotated[Literal["confirm", "withdraw", "reverse"], Field(description="Move to make.")]
    reason: Annotated[
        Annotated[str, text(1, 500)] | None, Field(description="Reason. Required to reverse.")
    ] = None


class ChangeContractPayment(Body):
    """A move of a payment. Its amount never changes."""

    move: Annotated[MoveContractPayment, Field(description="Move to make.")]


@router.post(
    "/contracts/invoices/{invoiceId}/payments",
    status_code=201,
    responses=problems(RuleViolated, ContractOver, Conflict, Duplicate, PaymentExceeds, Forbidden),
)
async def record_contract_payment(
    invoice_id: InvoiceId,
    body: RecordContractPayment,
    work: Annotated[Work, writes(Permission.PAYMENT_RECORD)],
) -> ContractPaymentView:
    """Record a payment on an invoice. It settles the invoice once it is confirmed.

    `seenInBank: true` confirms it at once and needs the permission to confirm payments.
    """
    if body.seen_in_bank:
        await workspaces.demand(work, Permission.PAYMENT_CONFIRM)
    given = PaymentGiven(
        amount=body.amount,
        received_on=body.received_on,
        bank_reference=body.bank_reference,
        seen_in_bank=body.seen_in_bank,
    )
    payment = await invoicing.record_payment(work, invoice_id, given)
    return ContractPaymentView.of(payment, work.now)


@router.get("/contracts/payments")
async def list_contract_payments(
    read: Annotated[Reader, reads(Permission.PAYMENT_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by contract.")
    ] = None,
    status: Annotated[PaymentState | None, Query(description="Filter by state.")] = None,
) -> PageOf[ContractPaymentView]:
    """List payments by buyers, newest first."""
    found = await invoicing.list_payments(read, page, workspace_id=workspace_id, state=status)
    return PageOf[ContractPaymentView].of(found, lambda one: ContractPaymentView.of(one, read.now))


@router.get("/contracts/payments/{paymentId}")
async def get_contract_payment(
    payment_id: PaymentId, read: Annotated[Reader, reads(Permission.PAYMENT_READ)]
) -> ContractPaymentView:
    """Get a payment."""
    return ContractPaymentView.of(await read.get(Payment, payment_id), read.now)


@router.patch(
    "/contracts/payments/{paymentId}",
    responses=problems(RuleViolated, ContractOver, InvalidTransition, Forbidden, StepUpRequired),
)
async def change_contract_payment(
    payment_id: PaymentId,
    body: ChangeContractPayment,
    work: Annotated[Work, writes(Permission.PAYMENT_UPDATE, if_match=True)],
) -> ContractPaymentView:
    """Confirm, withdraw or reverse a payment.

    A reversal requires recent identity verification and a reason. It reopens the invoice.
    """
    move = body.move
    if move.verb == "confirm":
        await workspaces.demand(work, Permission.PAYMENT_CONFIRM)
        payment = await invoicing.confirm_payment(work, payment_id)
    elif move.verb == "withdraw":
        payment = await invoicing.withdraw_payment(work, payment_id, move.reason)
    else:
        if move.reason is None:
            raise missing("/move/reason", "Give a reason.")
        await workspaces.demand(work, Permission.PAYMENT_REVERSE)
        payment = await invoicing.reverse_payment(work, payment_id, move.reason)
    return ContractPaymentView.of(payment, work.now)
