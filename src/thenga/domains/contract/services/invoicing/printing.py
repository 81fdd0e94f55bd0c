"""PDFs of invoices and credit notes: typeset once, as original and copy, and kept (CON-19).

The bank account is disclosed for the PDF alone and stored nowhere else.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

import structlog

from thenga.domains.contract.services.invoicing import drafts, layout
from thenga.domains.contract.services.invoicing.layout import Bank, Sheet
from thenga.domains.contract.tables import (
    CreditNote,
    DocumentPdf,
    Edition,
    Invoice,
    InvoiceLine,
)
from thenga.domains.organization.public import DisclosureReference, Disclosures, Ref
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem
from thenga.kernel.files import printing
from thenga.kernel.files.printing import Print
from thenga.kernel.ports.binding import within

log = structlog.get_logger()

TEMPLATE = Path(__file__).parents[2] / "content" / "invoice.typ"
NO_BANK = "bank_details_left_out"
_ACCOUNT = "bankAccount"
_MOST_NAMED = 100  # replaced characters that a document lists


@dataclass(frozen=True, slots=True)
class PrintOrder:
    """A document to typeset, and the time to embed."""

    document: Invoice | CreditNote
    lines: list[InvoiceLine]
    made_at: datetime

    @property
    def wants_bank(self) -> bool:
        """Credit notes are not paid, and neither are specimens of a sandbox."""
        is_specimen = bool((self.document.printed or {}).get("specimen"))
        return isinstance(self.document, Invoice) and not is_specimen

    def sheets(self, bank: Bank | None) -> dict[Edition, Sheet]:
        document = self.document
        if isinstance(document, CreditNote):
            return {one: layout.credit_note_sheet(document, edition=one) for one in Edition}
        return {
            one: layout.invoice_sheet(document, self.lines, edition=one, bank=bank)
            for one in Edition
        }


async def order_print(read: Reader, document_id: UUID) -> PrintOrder | None:
    """What is to be printed. None if the PDFs exist."""
    document = await _document(read, document_id)
    if document.pdf is not None or document.issued_at is None:
        return None
    lines = await drafts.lines_of(read, document.id)
    return PrintOrder(document, lines, document.issued_at)


async def reveal_bank(port: Disclosures, order: PrintOrder) -> Bank | None:
    """The bank account, on behalf of the person who submitted. None without the right or answer."""
    invoice = order.document
    if not order.wants_bank or not isinstance(invoice, Invoice) or invoice.issued_by is None:
        return None
    mine = invoice.organization_id
    asked = port.reveal(
        organization_id=mine,
        subjects=[Ref(type="fact", id=f"{mine}:{_ACCOUNT}", version=1)],
        fields=[_ACCOUNT],
        purpose="invoice",
        reference=DisclosureReference(domain="contract", type="invoice", id=invoice.id),
        on_behalf_of=invoice.issued_by,
        key=f"contract:invoice:{invoice.id}",
    )
    try:
        told = await within(port.port_timeout, port.port_name, asked)
    except Problem as problem:
        log.warning("contract.bank.left_out", invoice_id=str(invoice.id), reason=problem.code)
        return None
    value = told[0].values.get(_ACCOUNT) if told else None
    return value if isinstance(value, dict) else None


def typeset(sheet: Sheet, *, made_at: datetime) -> Print:
    """Typeset one edition. It is slow, so no transaction waits for it."""
    return printing.typeset(TEMPLATE, sheet, made_at=made_at)


async def store_pdfs(
    work: Work, document_id: UUID, prints: Mapping[Edition, Print], *, has_bank: bool
) -> None:
    """Keep the PDFs, once, and say on the invoice where its bank block was left out."""
    document = await work.hold(await _document(work, document_id))
    if document.pdf is not None:
        return
    for edition, made in prints.items():
        await work.add(
            DocumentPdf(
                organization_id=document.organization_id,
                document_id=document.id,
                edition=edition,
                sha256=hashlib.sha256(made.content).hexdigest(),
                content=made.content,
            )
        )
    original = prints[Edition.ORIGINAL]
    document.pdf = {
        "sha256": hashlib.sha256(original.content).hexdigest(),
        "bytes": len(original.content),
        "readyAt": work.now.isoformat(),
        "replaced": list(original.replaced[:_MOST_NAMED]),
    }
    if isinstance(document, Invoice) and not has_bank:
        document.warnings = sorted({*document.warnings, NO_BANK})
    await work.save(document)


async def find_pdf(read: Reader, document_id: UUID, *, edition: Edition) -> DocumentPdf | None:
    """A stored PDF. None while it is being printed."""
    return await read.find(DocumentPdf, document_id=document_id, edition=edition)


async def _document(read: Reader, document_id: UUID) -> Invoice | CreditNote:
    found = await read.find(Invoice, id=document_id) or await read.find(CreditNote, id=document_id)
    if found is None:
        raise NotFound()
    return found
