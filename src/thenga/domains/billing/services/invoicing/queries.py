"""Lists and reads of invoices."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, literal_column, select

from thenga.domains.billing.tables import CollectionStatus, Invoice, InvoiceStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.errors import NotFound
from thenga.kernel.values.calendar import local_day

# Drafts have neither date nor number and sort last.
BY_DATE: ColumnElement[Any] = literal_column(
    "coalesce(issue_date, DATE '9999-12-31')", type_=sa.Date()
)
BY_NUMBER: ColumnElement[Any] = literal_column("coalesce(number, '~')", type_=sa.Text())
ORDERS = {"issueDate": BY_DATE, "number": BY_NUMBER}


@dataclass(frozen=True, slots=True)
class InvoiceFilters:
    """The filters of a list of invoices."""

    status: InvoiceStatus | None
    collection_status: CollectionStatus | None
    subscription_id: UUID | None
    issued_from: date | None
    issued_to: date | None
    overdue: bool | None


async def list_invoices(read: Reader, paged: Paged, filters: InvoiceFilters) -> Slice[Invoice]:
    """The organization's invoices. Overdue is computed as of today."""
    statement = select(Invoice)
    statement = where_given(
        statement,
        (Invoice.status, filters.status),
        (Invoice.collection_status, filters.collection_status),
        (Invoice.subscription_id, filters.subscription_id),
    )
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
    """An invoice with a number. A draft cannot be printed."""
    found = await read.get(Invoice, invoice_id)
    if found.number is None:
        raise NotFound("This invoice is a draft. Its PDF is available once the invoice is issued.")
    return found
