"""Invoices: drafted before payment, released once they are final.

A draft has no number and can be discarded without an entry in the books (BIL-15). A released
invoice waits for its number; from then on only credit notes reverse it (BIL-27).
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
from thenga.kernel.db import configuration
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

_MOST_LINES = 15  # lines for a subscription in a day; more of them mean a loop

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
    """One line to bill. `key` identifies what it bills, once per organization.

    `unit_rate` is the unit price if it has more decimal places than money.
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
    """An invoice without a number: the amount to pay, less expected credit."""
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
    """The seller and VAT rate of today. They are fixed when the invoice is issued."""
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
    """Make a draft final: bill its days and request a number.

    `paid` is money received for it, as opposed to other credit.
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
    issuing.request_number(work, invoice)


async def discard_draft(work: Work, invoice: Invoice) -> None:
    """Discard a draft. What it would have billed can be billed again."""
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
    """Whether it is open after its due date, before the job has run."""
    due = invoice.due_date
    return invoice.status is InvoiceStatus.OPEN and due is not None and due < today


async def watch_lines(work: Work, subscription_id: UUID) -> None:
    """Park the account after this commits if too many lines were drafted.

    A job does it, because a refusal here would also roll back the parking.
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
    """Issue an invoice of these lines. Credit pays first."""
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
