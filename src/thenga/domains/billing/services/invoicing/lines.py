"""Document lines, and how amounts of a document are spread over them."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.services.pricing import interval_adverb
from thenga.domains.billing.tables import (
    CreditNoteLine,
    Interval,
    InvoiceLine,
    OfferedPlan,
    PlanKind,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, among_named
from thenga.kernel.values.money import Money

_MOST = 10_000  # lines of one page of documents
_LINES = (
    select(InvoiceLine)
    .where(among_named(InvoiceLine.__table__.c.invoice_id, "invoice_ids"))
    .order_by(InvoiceLine.position)
)


async def invoice_lines(read: Reader, invoice_id: UUID) -> list[InvoiceLine]:
    """The lines of an invoice, in order."""
    return (await invoice_lines_by_id(read, [invoice_id]))[invoice_id]


async def invoice_lines_by_id(
    read: Reader, invoice_ids: Sequence[UUID]
) -> dict[UUID, list[InvoiceLine]]:
    """The lines of a page of invoices, by invoice, in one statement."""
    found: dict[UUID, list[InvoiceLine]] = {document_id: [] for document_id in invoice_ids}
    if found:
        for line in await read.select_prepared(_LINES, limit=_MOST, invoice_ids=list(found)):
            found[line.invoice_id].append(line)
    return found


async def credit_note_lines(read: Reader, note_id: UUID) -> list[CreditNoteLine]:
    """The lines of a credit note, in order."""
    return (await credit_note_lines_by_id(read, [note_id]))[note_id]


async def credit_note_lines_by_id(
    read: Reader, note_ids: Sequence[UUID]
) -> dict[UUID, list[CreditNoteLine]]:
    """The lines of a page of credit notes, by note."""
    found: dict[UUID, list[CreditNoteLine]] = {document_id: [] for document_id in note_ids}
    if found:
        statement = select(CreditNoteLine).where(among(CreditNoteLine.credit_note_id, found))
        for line in await read.all(statement.order_by(CreditNoteLine.position), limit=_MOST):
            found[line.credit_note_id].append(line)
    return found


def plan_line_text(plan: OfferedPlan, interval: Interval) -> str:
    """The line of a plan as the invoice prints it: `Professional plan, monthly`."""
    name = f"{plan.name} plan" if plan.kind is PlanKind.BASE else plan.name
    return f"{name}, {interval_adverb(interval)}"


def spread_net(net: Money, lines: Sequence[InvoiceLine]) -> list[Money]:
    """VAT is computed once per document (BIL-5), so a line's net is its share by gross."""
    return net.share([line.gross_minor for line in lines])


def spread_credit(
    net: Money, credited: Mapping[UUID, int], lines: Sequence[InvoiceLine]
) -> dict[UUID, int]:
    """How much of a credit note's net each invoice line bears, in cents.

    Shares are by gross. A cent that rounding adds beyond what a line has left goes to the next line
    with room; together they always have room, because notes never exceed the invoice.
    """
    named = [line for line in lines if line.id in credited]
    shares = net.share([credited[line.id] for line in named])
    borne = dict.fromkeys((line.id for line in lines), 0)
    over = 0
    for line, share in zip(named, shares, strict=True):
        borne[line.id] = min(share.minor, _room(line))
        over += share.minor - borne[line.id]
    for line in lines:
        more = min(over, _room(line) - borne[line.id])
        borne[line.id] += more
        over -= more
    return borne


def _room(line: InvoiceLine) -> int:
    return (line.net_minor or 0) - line.credited_net_minor
