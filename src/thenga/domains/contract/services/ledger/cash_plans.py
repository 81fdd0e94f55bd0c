"""The cash plan of a contract for Funding: what comes in and when, never a name (port CashPlans).

Interest, observed payer days and dated costs of packages come with a later delivery.
"""

from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from uuid import UUID

from sqlalchemy import select

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles.delivery import MilestoneLifecycle
from thenga.domains.contract.services.ledger.balances import money_of
from thenga.domains.contract.tables import (
    Coordination,
    Invoice,
    InvoiceLine,
    Milestone,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.declare import law
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_UNSEEN = (WorkspaceStatus.PENDING, WorkspaceStatus.CANCELLED)


async def describe_cash_plan(
    read: Reader, workspace_id: UUID, *, version: int | None
) -> public.CashPlan | None:
    """The plan of a contract that was activated. None for others and for an older version."""
    workspace = await read.find(Workspace, id=workspace_id)
    if workspace is None or workspace.status in _UNSEEN:
        return None
    if version is not None and version != workspace.version:
        return None
    terms = Terms.of_row(workspace.terms)
    invoices = await _invoices(read, workspace_id)
    balances = await money_of(read, workspace_id)
    value = Money(workspace.current_value_minor, workspace.currency)
    if balances is not None:
        value = balances.value
    return public.CashPlan(
        version=workspace.version,
        buyer=public.CashPlanBuyer(
            reference=sha256(workspace.counterparty_key.encode()).hexdigest(),
            kind=workspace.counterparty_kind,
        ),
        value_excl_vat=await _without_vat(read, terms, value),
        terms_days=terms.payment_days,
        retention_percent=terms.retention.percent,
        deposit_percent=terms.advance.percent,
        cession=terms.cession,
        milestones=await _milestones(read, workspace, terms, invoices),
        costs=await _costs(read, workspace_id),
        invoices=[_invoice(one) for one in invoices],
        buyer_payment_days=[],
    )


async def _without_vat(read: Reader, terms: Terms, amount: Money) -> Money:
    """The amount without VAT at the rate of today."""
    if terms.vat_treatment != "standard":
        return amount
    rate = await configuration.value(read, law.VAT_RATE)
    return amount - amount.times(rate / (100 + rate))


async def _invoices(read: Reader, workspace_id: UUID) -> list[Invoice]:
    statement = select(Invoice).where(
        Invoice.workspace_id == workspace_id, Invoice.number.is_not(None)
    )
    return await read.all(statement.order_by(Invoice.id))


async def _milestones(
    read: Reader, workspace: Workspace, terms: Terms, invoices: Sequence[Invoice]
) -> list[public.CashPlanMilestone]:
    statement = select(Milestone).where(Milestone.workspace_id == workspace.id)
    found = await read.all(statement.order_by(Milestone.position))
    due = await _due_dates(read, invoices)
    return [
        public.CashPlanMilestone(
            milestone_id=one.id,
            value_excl_vat=await _without_vat(read, terms, Money(one.amount_minor, one.currency)),
            due_on=one.due_on,
            forecast_on=one.forecast_on,
            expected_on=due.get(one.id),
            status=one.status.value,
        )
        for one in found
        if one.status not in MilestoneLifecycle.GONE
    ]


async def _due_dates(read: Reader, invoices: Sequence[Invoice]) -> dict[UUID, date]:
    """The latest day on which an invoice of each milestone is due, where one was received."""
    due = {one.id: one.due_on for one in invoices if one.due_on is not None}
    if not due:
        return {}
    found: dict[UUID, date] = {}
    statement = select(InvoiceLine).where(among(InvoiceLine.invoice_id, due))
    for line in await read.all(statement, limit=5_000):
        if line.milestone_id is not None:
            day = due[line.invoice_id]
            found[line.milestone_id] = max(day, found.get(line.milestone_id, day))
    return found


async def _costs(read: Reader, workspace_id: UUID) -> list[public.CashPlanCost]:
    statement = select(Coordination).where(Coordination.workspace_id == workspace_id)
    return [
        public.CashPlanCost(
            coordination_id=one.id,
            amount=Money(one.value_minor, one.currency),
            ordered_on=local_day(one.created_at),
            due_on=one.due_on,
            pay_by=None,
        )
        for one in await read.all(statement.order_by(Coordination.id))
        if one.value_minor is not None
    ]


def _invoice(invoice: Invoice) -> public.CashPlanInvoice:
    def money(minor: int) -> Money:
        return Money(minor, invoice.currency)

    return public.CashPlanInvoice(
        id=invoice.id,
        version=invoice.version,
        status=invoice.status.value,
        disputed=invoice.disputed_minor > 0,
        gross=money(invoice.payable_minor),
        vat=money(invoice.vat_minor),
        received_on=invoice.received_on,
        due_on=invoice.due_on,
        outstanding=money(invoice.outstanding_minor),
        strength=invoice.strength,
    )
