"""Document PDFs: each is typeset once, as original and copy, and stored (BIL-28)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import structlog

from thenga.domains.billing import settings
from thenga.domains.billing.services import invoicing
from thenga.domains.billing.services.invoicing import credit_note_lines, invoice_lines
from thenga.domains.billing.services.printing import layout
from thenga.domains.billing.services.printing.layout import Sheet
from thenga.domains.billing.tables import CreditNote, DocumentPdf, Edition, Invoice
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound
from thenga.kernel.files import printing
from thenga.kernel.files.printing import Print

log = structlog.get_logger()

TEMPLATE = Path(__file__).parents[2] / "content" / "document.typ"
# Older ones have lost their job; newer ones still have it.
_PATIENCE = timedelta(minutes=2)
_MOST_NAMED = 100  # replaced characters that a document lists
_LEFT = """
    SELECT w.organization_id, id, seller_code, book, number IS NULL AS unnumbered FROM (
        SELECT organization_id, id, seller_code, book, number, released_at AS since
        FROM billing.invoice WHERE released_at IS NOT NULL AND number IS NULL
        UNION ALL
        SELECT organization_id, id, seller_code, book, number, released_at
        FROM billing.credit_note WHERE released_at IS NOT NULL AND number IS NULL
        UNION ALL
        SELECT organization_id, id, seller_code, book, number, issued_at
        FROM billing.invoice WHERE number IS NOT NULL AND pdf IS NULL
        UNION ALL
        SELECT organization_id, id, seller_code, book, number, issued_at
        FROM billing.credit_note WHERE number IS NOT NULL AND pdf IS NULL
    ) AS w LEFT JOIN billing.clock_offset c ON c.organization_id = w.organization_id
    WHERE since < $1::timestamptz + coalesce(c.ahead, interval '0')
        AND NOT (number IS NULL AND book = 'live' AND seller_code = ANY($2::text[]))
    ORDER BY since LIMIT 500
"""


@dataclass(frozen=True, slots=True)
class Order:
    """What to typeset, and the time to embed."""

    sheets: Mapping[Edition, Sheet]
    made_at: datetime


async def sheets_to_print(read: Reader, document_id: UUID) -> Order | None:
    """The sheets of an issued document. None if the PDFs exist."""
    document = await _document(read, document_id)
    if document.pdf is not None or document.issued_at is None or document.issue_date is None:
        return None
    if isinstance(document, CreditNote):
        credited = await credit_note_lines(read, document.id)
        sheets = {
            edition: layout.of_credit_note(document, credited, edition=edition)
            for edition in Edition
        }
        return Order(sheets, document.issued_at)
    lines = await invoice_lines(read, document.id)
    link = await configuration.value(read, settings.PAY_LINK)
    link = link.format(invoiceId=document.id)
    sheets = {
        edition: layout.of_invoice(document, lines, edition=edition, pay_link=link)
        for edition in Edition
    }
    return Order(sheets, document.issued_at)


def typeset(sheet: Sheet, *, made_at: datetime) -> Print:
    """Typeset one edition. It is slow, so no transaction waits for it."""
    return printing.typeset(TEMPLATE, sheet, made_at=made_at)


async def store_pdfs(work: Work, document_id: UUID, prints: Mapping[Edition, Print]) -> None:
    """Store the PDFs, once. The document records its original and the characters that could not be
    printed (SEC-67)."""
    document = await work.hold(await _document(work, document_id))
    if document.pdf is not None:
        return
    for one, made in prints.items():
        await work.add(
            DocumentPdf(
                organization_id=document.organization_id,
                document_id=document.id,
                edition=one,
                sha256=hashlib.sha256(made.content).hexdigest(),
                content=made.content,
            )
        )
    original = prints[Edition.ORIGINAL]
    replaced = list(original.replaced[:_MOST_NAMED])
    document.pdf = {
        "sha256": hashlib.sha256(original.content).hexdigest(),
        "bytes": len(original.content),
        "readyAt": work.now.isoformat(),
        "replaced": replaced,
    }
    await work.save(document)
    if replaced:
        log.warning("billing.print.replaced", document_id=str(document.id), replaced=replaced)


async def find_pdf(read: Reader, document_id: UUID, *, edition: Edition) -> DocumentPdf | None:
    """A stored PDF. None while it is being generated."""
    return await read.find(DocumentPdf, document_id=document_id, edition=edition)


async def _document(read: Reader, document_id: UUID) -> Invoice | CreditNote:
    found = await read.find(Invoice, id=document_id) or await read.find(CreditNote, id=document_id)
    if found is None:
        raise NotFound()
    return found


async def repair_stuck(work: Work) -> None:
    """Enqueue documents that wait too long for a number or a PDF, as the system login.

    Those that wait for the seller are left out, so that they keep no place from others (BIL-56).
    """
    blocked = await invoicing.blocked_sellers(work)
    for document in await work.query(_LEFT, work.now - _PATIENCE, blocked):
        whose = document["organization_id"]
        if document["unnumbered"]:
            work.enqueue(
                invoicing.issue_documents,
                organization_id=whose,
                seller=document["seller_code"],
                book=document["book"],
            )
        else:
            work.enqueue(invoicing.render_pdf, organization_id=whose, document_id=document["id"])
