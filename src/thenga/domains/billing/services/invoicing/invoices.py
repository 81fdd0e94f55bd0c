"""Invoices: drafted before the money is there, released when it is decided that they exist.

A draft has no number and may go away without a trace in the books (BIL-15). Released, it waits
for the numbering job; from then on only credit notes take anything back (BIL-27).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.billing import settings
from thenga.domains.billing.lifecycles import InvoiceLifecycle
from thenga.domains.billing.services import customer, ledger, pricing
from thenga.domains.billing.services.customer import TaxDataMissing, recipient_of
from thenga.domains.billing.services.invoicing import billed_periods, issuing
from thenga.domains.billing.services.invoicing.billed_periods import BilledLine, running_line
from thenga.domains.billing.services.invoicing.lines import invoice_lines
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.tables import (
    Account,
    Invoice,
    InvoiceLine,
    InvoiceStatus,
    LineKind,
    Purpose,
    Subscription,
)
from thenga.kernel import configuration
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

_MOST_LINES = 15  # a day and subscription; whatever makes more of them runs in a circle

__all__ = [
    "BilledLine",
    "DraftLine",
    "LineKind",
    "Purpose",
    "TaxDataMissing",
    "discard_draft",
    "draft_invoice",
    "release_invoice",
    "running_line",
]

_SPANNING = (LineKind.RECURRING, LineKind.PRORATION)


@dataclass(frozen=True, slots=True)
class DraftLine:
    """One line to be billed; `key` says what it bills, once in an organization.

    `unit_rate` is the price of a unit where it has more places than money.
    """

    kind: LineKind
    description: str
    quantity: int
    unit_price: Money
    gross: Money
    service: Period | None
    subscription_id: UUID | None
    plan_code: str | None
    plan_version: int | None
    key: str
    unit_rate: Decimal | None = None


async def draft_invoice(
    work: Work,
    account: Account,
    *,
    purpose: Purpose,
    lines: Sequence[DraftLine],
    subscription_id: UUID | None,
    planned_credit: Money | None = None,
) -> Invoice:
    """A document without a number: what would be owed, less the credit that will be there."""
    gross = Money(sum(line.gross.minor for line in lines), account.currency)
    planned = min(planned_credit or Money(0, gross.currency), gross)
    if planned and purpose is not Purpose.CHANGE:
        planned = min(planned, await ledger.free_credit(work, currency=gross.currency))
    invoice = await work.add(
        Invoice(
            organization_id=account.organization_id,
            account_id=account.id,
            subscription_id=subscription_id,
            purpose=purpose,
            book=account.book,
            recipient=recipient_of(account, gross),
            order_number=account.order_number,
            currency=gross.currency,
            gross_minor=gross.minor,
            planned_credit_minor=planned.minor,
            amount_due_minor=(gross - planned).minor,
            **await _sold(work, gross),
        )
    )
    for position, line in enumerate(lines, 1):
        await work.add(_line(invoice, position, line))
    if subscription_id is not None:
        await watch_lines(work, subscription_id)
    return invoice


async def _sold(work: Work, gross: Money) -> dict[str, Any]:
    """By whom, and with which VAT, as it would be today; the issue says it for good."""
    today = local_day(work.now)
    seller_code = await configuration.value(work, settings.SELLER)
    seller = await pricing.seller_on(work, seller_code, today)
    rate = await pricing.seller_vat_rate(work, seller, today)
    taxed = pricing.split_vat(gross, rate)
    return {
        "seller_code": seller_code,
        "title": issuing.title_of(seller),
        "rate_pct": rate,
        "net_minor": taxed.net.minor,
        "vat_minor": taxed.vat.minor,
    }


def _line(invoice: Invoice, position: int, line: DraftLine) -> InvoiceLine:
    served: dict[str, Any] = {}
    if line.service is not None:
        served = {"service_from": line.service.start, "service_to": line.service.end}
    return InvoiceLine(
        organization_id=invoice.organization_id,
        invoice_id=invoice.id,
        position=position,
        kind=line.kind,
        key=line.key,
        description=line.description,
        quantity=line.quantity,
        unit_price=line.unit_rate or Decimal(line.unit_price.amount),
        gross_minor=line.gross.minor,
        subscription_id=line.subscription_id,
        plan_code=line.plan_code,
        plan_version=line.plan_version,
        **served,
    )


async def release_invoice(work: Work, invoice: Invoice, *, paid: Money | None = None) -> None:
    """It is decided that this document exists: its days are billed and a number is asked for.

    `paid` is the money that came for it, so that it is told from credit of another time.
    """
    await work.hold(invoice)
    if paid is not None:
        invoice.received_minor += paid.minor
    if invoice.released_at is not None or invoice.status is not InvoiceStatus.DRAFT:
        await work.save(invoice)
        return
    invoice.released_at = work.now
    await work.save(invoice)
    for line in await invoice_lines(work, invoice.id):
        if line.kind in _SPANNING and line.subscription_id and line.service_from:
            assert line.service_to is not None  # noqa: S101  # both or none, held by the table
            span = Period(line.service_from, line.service_to)
            await billed_periods.record_billed_period(
                work, line.id, subscription_id=line.subscription_id, span=span
            )
    issuing.ask(work, invoice)


async def discard_draft(work: Work, invoice: Invoice) -> None:
    """A draft that is not wanted; what it would have billed may be billed again."""
    await work.hold(invoice)
    if not InvoiceLifecycle.discard(invoice, at=work.now):
        return
    invoice.amount_due_minor = 0
    await work.save(invoice)
    for known in await invoice_lines(work, invoice.id):
        line = await work.hold(known)
        line.key = None
        await work.save(line)


def is_overdue(invoice: Invoice, today: date) -> bool:
    """Open, and its day has passed; right before any sweep has looked."""
    due = invoice.due_date
    return invoice.status is InvoiceStatus.OPEN and due is not None and due < today


async def watch_lines(work: Work, subscription_id: UUID) -> None:
    """Lines were drafted: have the account parked once this commits, where they are too many.

    By a job: what is being billed goes its way, because a refusal would take the parking back.
    """
    line = InvoiceLine.__table__
    drafted = await work.value(
        select(func.count()).where(
            line.c.organization_id == work.organization_id,
            line.c.subscription_id == subscription_id,
            line.c.created_at >= local_midnight(local_day(work.now)),
        )
    )
    if (drafted or 0) > _MOST_LINES:
        work.enqueue(customer.park_account, reason=customer.TOO_MANY_LINES)


async def invoice_subscription(
    work: Work,
    account: Account,
    subscription: Subscription,
    lines: list[DraftLine],
    purpose: Purpose,
) -> Invoice:
    """An invoice of these lines, on its way to its number; credit pays first."""
    total = Money(sum(line.gross.minor for line in lines), account.currency)
    credit = await ledger.credit_for(work, account, total)
    invoice = await draft_invoice(
        work,
        account,
        purpose=purpose,
        lines=lines,
        subscription_id=subscription.id,
        planned_credit=credit,
    )
    await release_invoice(work, invoice)
    return invoice
