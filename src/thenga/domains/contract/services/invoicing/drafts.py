"""Drafts of invoices: fields and lines, and the figures they would have today."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.contract.lifecycles.delivery import MilestoneLifecycle
from thenga.domains.contract.services import ledger, workspaces
from thenga.domains.contract.services.invoicing.arithmetic import (
    Amounts,
    InvoiceTerms,
    invoice_amounts,
)
from thenga.domains.contract.tables import (
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceStatus,
    Milestone,
    Workspace,
    WorkspaceMoney,
)
from thenga.domains.contract.values.refusals import invalid
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare import law
from thenga.kernel.errors import Conflict, Problem
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_OWN = re.compile(r"^(?:SBX-)?(?:INV|CN)-[0-9]+$")


class PlanMissing(Problem):
    """Progress invoices claim milestones of the baselined delivery plan. Baseline a plan first."""

    code, status, title = "contract-plan-missing", 409, "This contract has no baselined plan"


@dataclass(frozen=True, slots=True)
class LineGiven:
    """A line as the caller sends it."""

    description: str
    amount: Money
    milestone_id: UUID | None = None
    quantity: Decimal = Decimal(1)
    unit: str | None = None


async def create_draft(
    work: Work,
    workspace_id: UUID,
    *,
    kind: InvoiceKind,
    lines: Sequence[LineGiven],
    fields: Mapping[str, Any],
) -> Invoice:
    """Begin an invoice. A draft reserves nothing (CON-18)."""
    workspace = await workspaces.workspace_for(work, workspace_id)
    money = await ledger.lock_money(work, workspace.id)
    if kind is InvoiceKind.PROGRESS and not workspace.plan_number:
        raise PlanMissing()
    invoice = Invoice(
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        kind=kind,
        currency=workspace.currency,
        **fields,
    )
    check_source(invoice)
    await check_lines(work, workspace, kind, lines)
    await preview_amounts(work, workspace, money, invoice, lines)
    await work.add(invoice)
    await _add_lines(work, invoice, lines)
    return invoice


async def change_draft(
    work: Work,
    invoice: Invoice,
    workspace: Workspace,
    *,
    lines: Sequence[LineGiven] | None,
    fields: Mapping[str, Any],
) -> None:
    """Change the fields of a locked draft, or replace its lines. The caller saves it."""
    if invoice.status is not InvoiceStatus.DRAFT:
        raise Conflict("Only a draft can be changed. To correct a submitted invoice, replace it.")
    for name, value in fields.items():
        setattr(invoice, name, value)
    check_source(invoice)
    kept = await lines_of(work, invoice.id)
    given = [line_given(line, invoice.currency) for line in kept] if lines is None else lines
    await check_lines(work, workspace, invoice.kind, given)
    money = await ledger.lock_money(work, workspace.id)
    await preview_amounts(work, workspace, money, invoice, given)
    if lines is not None:
        for line in kept:
            await work.remove(line)
        await _add_lines(work, invoice, lines)


def check_source(invoice: Invoice) -> None:
    """An invoice made elsewhere has its document, and a number that our series never give."""
    if (invoice.external_number is None) != (invoice.document_ref is None):
        raise invalid(
            "/externalNumber", "Send `externalNumber` and `documentRef` together, or neither."
        )
    if invoice.external_number is not None and _OWN.match(invoice.external_number):
        raise invalid(
            "/externalNumber",
            "Numbers in this format are reserved for the platform. Send another one.",
        )


async def check_lines(
    work: Work, workspace: Workspace, kind: InvoiceKind, lines: Sequence[LineGiven]
) -> dict[UUID, Milestone]:
    """Milestones that the lines claim, by ID. Only progress claims milestones, and each line one.

    A milestone of another contract is answered as one that does not exist.
    """
    for index, line in enumerate(lines):
        if line.amount.currency != workspace.currency:
            raise invalid(f"/lines/{index}/amount/currency", f"Use {workspace.currency}.")
        if (line.milestone_id is None) == (kind is InvoiceKind.PROGRESS):
            raise invalid(
                f"/lines/{index}/milestoneId",
                "Send a milestone on every line of a progress invoice and on no other line.",
            )
    ids = {line.milestone_id for line in lines if line.milestone_id is not None}
    if not ids:
        return {}
    statement = select(Milestone).where(among(Milestone.id, ids))
    found = {
        one.id: one
        for one in await work.all(statement)
        if one.workspace_id == workspace.id and one.status not in MilestoneLifecycle.GONE
    }
    for index, line in enumerate(lines):
        if line.milestone_id not in found:
            raise invalid(f"/lines/{index}/milestoneId", "This milestone does not exist.")
    return found


async def preview_amounts(
    read: Reader,
    workspace: Workspace,
    money: WorkspaceMoney,
    invoice: Invoice,
    lines: Sequence[LineGiven],
) -> Amounts:
    """Set the figures that the invoice has by the counters of this moment."""
    terms = await invoice_terms(read, workspace, invoice)
    total = sum((line.amount for line in lines), Money(0, workspace.currency))
    amounts = invoice_amounts(invoice.kind, total, terms=terms, balances=ledger.Balances.of(money))
    invoice.rate_percent = terms.rate_percent
    for name in Amounts.__slots__:
        setattr(invoice, f"{name}_minor", getattr(amounts, name).minor)
    return amounts


async def invoice_terms(read: Reader, workspace: Workspace, invoice: Invoice) -> InvoiceTerms:
    """Terms of the contract with the VAT rate of the day of supply (CON-15)."""
    terms = Terms.of_row(workspace.terms)
    on = invoice.supply_date or local_day(read.now)
    rate: Decimal | None = await configuration.value(read, law.VAT_RATE, on=on)
    if terms.vat_treatment == "zero_rated":
        rate = Decimal(0)
    elif terms.vat_treatment == "non_vendor":
        rate = None
    retention = terms.retention
    return InvoiceTerms(
        rate, retention.percent, terms.advance.recovery_percent, retention.vat_timing
    )


async def _add_lines(work: Work, invoice: Invoice, lines: Sequence[LineGiven]) -> None:
    for position, line in enumerate(lines, start=1):
        await work.add(
            InvoiceLine(
                organization_id=work.organization_id,
                invoice_id=invoice.id,
                position=position,
                milestone_id=line.milestone_id,
                description=line.description,
                quantity=line.quantity,
                unit=line.unit,
                amount_minor=line.amount.minor,
            )
        )


async def lines_of(read: Reader, invoice_id: UUID) -> list[InvoiceLine]:
    """Lines of an invoice in their order."""
    statement = select(InvoiceLine).where(InvoiceLine.invoice_id == invoice_id)
    return await read.all(statement.order_by(InvoiceLine.position))


def line_given(line: InvoiceLine, currency: str) -> LineGiven:
    """A stored line as it was given."""
    amount = Money(line.amount_minor, currency)
    return LineGiven(line.description, amount, line.milestone_id, line.quantity, line.unit)
