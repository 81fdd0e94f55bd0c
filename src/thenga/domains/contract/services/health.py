"""What is wrong with a contract today, counted."""

from dataclasses import dataclass

from sqlalchemy import func, select

from thenga.domains.contract.lifecycles import RiskLifecycle
from thenga.domains.contract.services import delivery, invoicing
from thenga.domains.contract.tables import Invoice, Risk, RiskBand, Workspace
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.values.calendar import local_day


@dataclass(frozen=True, slots=True)
class Health:
    """Figures of one contract."""

    overdue_milestones: int
    at_risk_milestones: int
    overdue_invoices: int
    critical_risks: int


async def health_of(read: Reader, workspace: Workspace) -> Health:
    """Late milestones, overdue invoices and critical risks of a contract, as of now."""
    milestones = await delivery.live_milestones(read, workspace.id)
    states = (await delivery.lateness_of(read, milestones)).values()
    invoices = await read.value(
        select(func.count())
        .select_from(Invoice)
        .where(Invoice.organization_id == read.organization_id)
        .where(Invoice.workspace_id == workspace.id)
        .where(*invoicing.is_owed(), Invoice.due_on < local_day(read.now))
    )
    risks = await read.value(
        select(func.count())
        .select_from(Risk)
        .where(Risk.organization_id == read.organization_id)
        .where(Risk.workspace_id == workspace.id)
        .where(Risk.band == RiskBand.CRITICAL.value)
        .where(among(Risk.status, RiskLifecycle.LIVE))
    )
    return Health(
        overdue_milestones=sum(one.overdue for one in states),
        at_risk_milestones=sum(bool(one.reasons) for one in states),
        overdue_invoices=invoices or 0,
        critical_risks=risks or 0,
    )
