"""Invoices as they are looked for and looked at."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, literal_column, select

from thenga.domains.billing.tables import CollectionStatus, Invoice, InvoiceStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound
from thenga.kernel.values.calendar import local_day

# A draft has neither day nor number: it comes after everything that has.
BY_DATE: ColumnElement[Any] = literal_column(
    "coalesce(issue_date, DATE '9999-12-31')", type_=sa.Date()
)
BY_NUMBER: ColumnElement[Any] = literal_column("coalesce(number, '~')", type_=sa.Text())
ORDERS = {"issueDate": BY_DATE, "number": BY_NUMBER}


@dataclass(frozen=True, slots=True)
class InvoiceFilters:
    """What a list of invoices may be narrowed by."""

    status: InvoiceStatus | None
    collection_status: CollectionStatus | None
    subscription_id: UUID | None
    issued_from: date | None
    issued_to: date | None
    overdue: bool | None


async def list_invoices(read: Reader, paged: Paged, filters: InvoiceFilters) -> Slice[Invoice]:
    """The invoices of the organization; overdue is a matter of today, not of a sweep."""
    statement = select(Invoice)
    if filters.status is not None:
        statement = statement.where(Invoice.status == filters.status)
    if filters.collection_status is not None:
        statement = statement.where(Invoice.collection_status == filters.collection_status)
    if filters.subscription_id is not None:
        statement = statement.where(Invoice.subscription_id == filters.subscription_id)
    if filters.issued_from is not None:
        statement = statement.where(Invoice.issue_date >= filters.issued_from)
    if filters.issued_to is not None:
        statement = statement.where(Invoice.issue_date <= filters.issued_to)
    if filters.overdue is not None:
        late = sa.and_(
            Invoice.status == InvoiceStatus.OPEN,
            sa.func.coalesce(Invoice.due_date < local_day(read.now), sa.false()),
        )
        statement = statement.where(late if filters.overdue else sa.not_(late))
    return await read.page(statement, paged, ORDERS.get(paged.sort))


async def issued_invoice(read: Reader, invoice_id: UUID) -> Invoice:
    """An invoice that has its number; a draft cannot be printed."""
    found = await read.get(Invoice, invoice_id)
    if found.number is None:
        raise NotFound("This invoice is a draft; it is printed once it has its number.")
    return found
