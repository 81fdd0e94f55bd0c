"""Pages of documents: stored, found by search, and dropped a while after the closing (OPP-23)."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.opportunity.services.documents.documents import publish
from thenga.domains.opportunity.services.documents.reading import ReadText
from thenga.domains.opportunity.settings import PAGES_KEPT_DAYS
from thenga.domains.opportunity.tables import Document, DocumentPage, IndexState, TextState
from thenga.kernel.db.configuration import value
from thenga.kernel.db.work import Work
from thenga.kernel.files.contents import ContentStatus

_INDEX = """
    INSERT INTO opportunity.{table} (id, created_at, updated_at, version, organization_id,
        document_id, tender_opportunity_id, page, words)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $6, to_tsvector('opportunity.za', $7))
"""
_SHARED = _INDEX.format(table="page_search")
_OWN = _INDEX.format(table="own_page_search")


async def keep_text(work: Work, document_id: UUID, read: ReadText) -> None:
    """Store and index the pages of a clean document, once."""
    document = await work.lock(Document, document_id)
    is_clean = document.content_status is ContentStatus.CLEAN
    if not is_clean or document.text_state is not TextState.QUEUED:
        return
    for page in read.pages:
        if not page.needs_ocr:
            await _keep(work, document, page.number, page.text)
    document.text_state, document.reason_code = TextState(read.state), read.reason
    document.pages, document.ocr_pages = read.page_count, read.ocr_pages
    document.next_check_at = None
    if any(not page.needs_ocr for page in read.pages):
        document.index_state = IndexState.INDEXED
    await work.save(document)
    publish(work, document)


async def _keep(work: Work, document: Document, number: int, text: str) -> None:
    page = await work.add(
        DocumentPage(
            organization_id=document.organization_id,
            shared=document.shared,
            document_id=document.id,
            tender_opportunity_id=document.tender_opportunity_id,
            number=number,
            text=text,
        )
    )
    await work.run(
        _SHARED if document.shared else _OWN,
        *(page.id, work.now, document.organization_id, document.id),
        *(document.tender_opportunity_id, number, text),
    )


_DROP = """
    WITH over AS (
        SELECT d.id FROM opportunity.document d
        JOIN opportunity.tender_opportunity t ON t.id = d.tender_opportunity_id
        WHERE d.index_state = 'indexed' AND t.closes_at < $1 LIMIT 500
    ), shared AS (
        DELETE FROM opportunity.page_search p USING over WHERE p.document_id = over.id
    ), own AS (
        DELETE FROM opportunity.own_page_search p USING over WHERE p.document_id = over.id
    )
    UPDATE opportunity.document d SET index_state = 'dropped', version = version + 1
    FROM over WHERE d.id = over.id
"""


async def drop_old(work: Work) -> None:
    """Take pages out of the search some time after the closing (OPP-23)."""
    days = await value(work, PAGES_KEPT_DAYS)
    kept = timedelta(days=days)
    await work.run(_DROP, work.now - kept)
