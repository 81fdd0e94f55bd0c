"""Jobs that fetch documents, have them scanned and read their text (OPP-21, OPP-22)."""

from collections.abc import AsyncIterator
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

from thenga.domains.opportunity.adapters.documents import DocumentHosts, NotFetched
from thenga.domains.opportunity.jobs.declared import jobs
from thenga.domains.opportunity.services import documents
from thenga.domains.opportunity.tables import Document, TextState
from thenga.kernel.db.work import Work
from thenga.kernel.files import contents
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.files.store import PDF
from thenga.kernel.jobs.due import due
from thenga.kernel.jobs.run import Run
from thenga.kernel.outside.isolation import IsolationFailed, run_isolated

_BATCH = 200
_SECONDS = 60.0
_MEGABYTES = 256
_MOST_PAGES = 1500
_READ_PAGES = "thenga.kernel.outside.pdf_text:read_pages"
_TEXT = "text/plain"
_NO_TEXT = documents.ReadText("unsupported", "media_type", 0, ())


@jobs.implements(documents.process_document)
async def process_document(run: Run, *, document_id: UUID) -> None:
    """The next step of a document: fetch it, have it scanned, or read its text."""
    async with run.reading() as read:
        document = await read.get(Document, document_id)
        hosts = await documents.allowed_hosts(read)
    if documents.waits_for_fetch(document):
        await _fetch(run, document, hosts)
    elif document.content_status is ContentStatus.CLEAN:
        if document.text_state is TextState.QUEUED:
            text = await _read(run, document)
            async with run.working() as work:
                await documents.keep_text(work, document_id, text)
    else:
        await contents.inspect(run, Document, document_id, then=documents.record_scan)


@jobs.implements(documents.retry_refused)
async def retry_refused(work: Work) -> None:
    """Fetch documents whose host was not named before."""
    await documents.queue_refused(work)


jobs.moved[Document] = (process_document, "document_id")


@jobs.every(timedelta(seconds=30))
async def find_to_process_document(work: Work) -> None:
    """Find documents whose next step is due."""
    for organization_id, document_id in await due(work, Document, limit=_BATCH):
        work.enqueue(process_document, organization_id=organization_id, document_id=document_id)


@jobs.every(timedelta(hours=6))
async def drop_pages(work: Work) -> None:
    """Take pages of tenders that closed long ago out of the search."""
    await documents.drop_old(work)


async def _fetch(run: Run, document: Document, hosts: set[str]) -> None:
    url = document.url or ""
    if _host(url) not in hosts:
        return await _miss(run, document, "host_not_allowed")
    try:
        content = await run.adapter(DocumentHosts).fetch(
            url, hosts=hosts, most_bytes=documents.MOST_BYTES
        )
    except NotFetched as missed:
        return await _miss(run, document, missed.why.value)

    async def chunks() -> AsyncIterator[bytes]:
        yield content

    area = contents.quarantine_of("opportunity", document)
    kept = await run.host.files.put(area, chunks(), most_bytes=documents.MOST_BYTES)
    if kept.media_type not in documents.MEDIA_TYPES:
        await run.host.files.delete(kept.key)
        return await _miss(run, document, "not_a_document")
    async with run.working() as work:
        stored = await documents.record_file(work, document.id, kept)
    if not stored:
        await run.host.files.delete(kept.key)
    return None


async def _miss(run: Run, document: Document, reason: str) -> None:
    async with run.working() as work:
        await documents.record_miss(work, document.id, reason)


async def _read(run: Run, document: Document) -> documents.ReadText:
    """The text of a clean document, read in a child process."""
    if document.media_type not in (PDF, _TEXT):
        return _NO_TEXT
    file = documents.readable(document)
    content = b"".join([chunk async for chunk in run.host.files.read(file.key)])
    if document.media_type == _TEXT:
        return documents.text_of(_plain_page(content))
    try:
        found = await run_isolated(
            *(_READ_PAGES, content, {"most_pages": _MOST_PAGES}),
            seconds=_SECONDS,
            megabytes=_MEGABYTES,
        )
    except IsolationFailed as failed:
        return documents.ReadText("failed", failed.reason.value, 0, ())
    return documents.text_of(found.values)


def _plain_page(content: bytes) -> dict[str, object]:
    """A text file is one page."""
    text = content.decode("utf-8", "replace")
    page = {"text": text, "visible": len(text), "unmapped": 0, "image_percent": 0}
    return {"refused": None, "page_count": 1, "pages": [page]}


def _host(url: str) -> str:
    """The host of an address that a feed gave; nothing where it is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
