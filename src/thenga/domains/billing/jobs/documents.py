"""Jobs of documents: numbers, PDFs and letters."""

import asyncio
from datetime import timedelta
from uuid import UUID

from thenga.domains.billing.jobs.declared import jobs
from thenga.domains.billing.services import (
    customer,
    invoicing,
    printing,
    subscriptions,
)
from thenga.domains.notification.public import Recipient, Requests
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.run import Run


@jobs.implements(invoicing.issue_documents)
async def issue_documents(work: Work, *, seller: str, book: str) -> None:
    """Number documents as the system login, because series belong to the platform (BIL-25)."""
    await invoicing.issue_next(work, seller=seller, book=book)


@jobs.implements(invoicing.render_pdf)
async def render_pdf(run: Run, *, document_id: UUID) -> None:
    """Typeset a document. It is slow, so no transaction waits for it."""
    async with run.reading() as read:
        order = await printing.sheets_to_print(read, document_id)
    if order is None:
        return
    made = {
        edition: await asyncio.to_thread(printing.typeset, sheet, made_at=order.made_at)
        for edition, sheet in order.sheets.items()
    }
    async with run.working() as work:
        await printing.store_pdfs(work, document_id, made)


@jobs.every(timedelta(minutes=1))
async def look_after_documents(work: Work) -> None:
    """Number and typeset documents that a failed job left behind."""
    await printing.repair_stuck(work)


@jobs.implements(customer.tell_payer)
async def tell_payer(run: Run, *, topic: str, about: UUID, number: int) -> None:
    """Hand a letter to Notification. Its facts are read now, so no address waits in the queue."""
    async with run.reading() as read:
        letter = await subscriptions.compose_letter(read, topic, about)
    if letter is None:
        return
    await run.port(Requests).accept(
        topic_code=letter.topic,
        recipients=[Recipient(address=address) for address in letter.addresses],
        facts=letter.facts,
        sealed_facts={},
        key=run.key,
        organization_id=run.carried.organization_id,
    )
    async with run.working() as work:
        told = {"topic": topic, "number": number}
        work.note("billing.payer.told", (topic.removeprefix("billing."), about), told)
