"""Prices as they are read: every read stands in the trail, and machines of ours ask by port."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from thenga.domains.bid import public
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.pricing.totals import Picture, computed
from thenga.domains.bid.services.pricing.workbooks import content_of, version_of
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import Workbook, WorkbookVersion, Workspace
from thenga.kernel.db.read_audit import tell
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class Shown:
    """A workbook, one version of it, and what follows from it."""

    workbook: Workbook
    version: WorkbookVersion
    picture: Picture


async def get_workbook(
    read: Reader, workspace_id: UUID, *, version_number: int | None = None
) -> Shown:
    """The workbook of a bid for somebody with price access; the read is written down."""
    workspace = await workspaces.seen_workspace(read, workspace_id, Need.READ, Need.PRICE)
    workbook = await read.find(Workbook, workspace_id=workspace_id)
    if workbook is None:
        raise NotFound()
    shown = await picture_of(read, workspace, workbook, version_number=version_number)
    detail = {"versionNumber": shown.version.number}
    await tell(read, "bid.price.read", ("workbook", workbook.id), detail)
    return shown


async def picture_of(
    read: Reader, workspace: Workspace, workbook: Workbook, *, version_number: int | None = None
) -> Shown:
    """A version of a workbook, computed; nobody is asked for anything."""
    version = await version_of(read, workbook, version_number)
    tender = await workspaces.stored_tender(read, workspace)
    picture = await computed(read, content_of(version), version.terms, tender)
    return Shown(workbook, version, picture)


async def cash_plan(
    read: Reader, workspace_id: UUID, version_number: int | None
) -> public.CashPlan | None:
    """The cash of a price for Funding; nothing where there is no such version or a cost misses."""
    workspace = await read.find(Workspace, id=workspace_id)
    workbook = await read.find(Workbook, workspace_id=workspace_id)
    if workspace is None or workbook is None:
        return None
    wanted = version_number or workbook.version_number
    if await read.find(WorkbookVersion, workbook_id=workbook.id, number=wanted) is None:
        return None
    shown = await picture_of(read, workspace, workbook, version_number=wanted)
    totals, terms = shown.picture.priced.totals, shown.picture.content.cash_terms
    if totals.cost is None:
        return None
    return public.CashPlan(
        version=wanted,
        total=totals.total,
        vat=totals.vat,
        cost=totals.cost,
        need=shown.picture.cash.need,
        start_on=None if terms.start_on is None else date.fromisoformat(terms.start_on),
        deposit_percent=terms.deposit_percent,
        delivery_days=terms.delivery_days,
        acceptance_days=terms.acceptance_days,
        supplier_credit_percent=terms.supplier_credit_percent,
        supplier_terms_days=terms.supplier_terms_days,
        retention_percent=terms.retention_percent,
        cession=bool(terms.cession),
        milestones=[
            public.PlannedReceipt(
                key=f"m{number}", amount=_money(one), due_on=_day(one.get("due_on"))
            )
            for number, one in enumerate(terms.milestones, 1)
        ],
        costs=[
            public.PlannedCost(key=f"c{number}", amount=_money(one), pay_by=_day(one.get("pay_by")))
            for number, one in enumerate(terms.costs, 1)
        ],
    )


def _money(one: Any) -> Money:
    return Money.of(one["amount"])


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
