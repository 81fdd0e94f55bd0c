"""Jobs of money: PDFs, ageing, retention and the nightly check."""

import asyncio
from datetime import timedelta
from uuid import UUID

from thenga.domains.contract.jobs.declared import jobs
from thenga.domains.contract.services import invoicing, ledger
from thenga.domains.contract.tables import Invoice, Workspace
from thenga.domains.organization.public import Disclosures
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run
from thenga.kernel.ports.binding import Unbound

_EVERY = timedelta(minutes=1)


@jobs.implements(invoicing.render_document)
async def render_document(run: Run, *, document_id: UUID) -> None:
    """Print an invoice or credit note. It is slow, so no transaction waits for it."""
    async with run.reading() as read:
        order = await invoicing.order_print(read, document_id)
    if order is None:
        return
    bank = None
    if order.wants_bank:
        try:
            bank = await invoicing.reveal_bank(run.port(Disclosures), order)
        except Unbound:  # nobody answers this port here
            bank = None
    made = {
        edition: await asyncio.to_thread(invoicing.typeset, sheet, made_at=order.made_at)
        for edition, sheet in order.sheets(bank).items()
    }
    async with run.working() as work:
        has_bank = bank is not None or not order.wants_bank
        await invoicing.store_pdfs(work, document_id, made, has_bank=has_bank)


@when_due(jobs, Invoice, every=_EVERY)
async def tell_overdue(work: Work, *, invoice_id: UUID) -> None:
    """An invoice has reached another age (CON-23)."""
    await invoicing.tell_overdue(work, invoice_id)


@when_due(jobs, Workspace, every=_EVERY)
async def tell_retention(work: Work, *, workspace_id: UUID) -> None:
    """A part of the retention can be claimed (CON-17)."""
    await ledger.tell_retention(work, workspace_id)


@jobs.every(timedelta(days=1))
async def verify_money(work: Work) -> None:
    """Compare journals, documents and counters of all contracts (CON-27)."""
    await ledger.verify_money(work)
