"""Documents of tenders: added by hand or by a notice, fetched, scanned, readable when clean."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import func, select

from thenga.domains.opportunity import public
from thenga.domains.opportunity.lifecycles import DocumentFetchLifecycle
from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.tables import (
    Document,
    DocumentPage,
    FetchState,
    Source,
    SourceStatus,
    TenderOpportunity,
    TextState,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import NotFound, Problem, RuleViolated
from thenga.kernel.files import contents
from thenga.kernel.files.contents import ContentLifecycle, ContentStatus
from thenga.kernel.files.store import StoredFile

MOST_BYTES = 50 * 1024 * 1024
_OFFICE = "application/vnd.openxmlformats-officedocument"
MEDIA_TYPES = frozenset(
    {
        *("application/pdf", "application/msword", "application/vnd.ms-excel", "text/plain"),
        *(f"{_OFFICE}.wordprocessingml.document", f"{_OFFICE}.spreadsheetml.sheet"),
        *("application/zip", "image/png", "image/jpeg"),
    }
)
_MOST = 500  # of a tender
_DELAYS = (1, 5, 30, 240, 1440)  # minutes
_MISSING_TWICE = 2
_BATCH = 200
_FOREIGN = "host_not_allowed"

_WAITING = (FetchState.NONE, FetchState.FAILED, FetchState.GONE, FetchState.REFUSED)

process_document = job_stub("opportunity.process_document", form=Form.OUTSIDE, key="{document_id}")
retry_refused = job_stub("opportunity.retry_refused", form=Form.QUEUED)


class DocumentUnavailable(Problem):
    """The file is missing, not scanned yet or refused. The states of the document show why."""

    code, status, title = "opportunity-document-unavailable", 409, "This document is not available"


class DocumentAddressRefused(Problem):
    """Documents are fetched from https addresses without credentials. Upload the file instead."""

    code, status, title = "opportunity-document-address-refused", 422, "This address is not https"


async def add(
    work: Work, tender_id: UUID, fields: dict[str, Any], *, fetch: bool
) -> tuple[Document, bool]:
    """Add a document, or find the one with this address, and whether it is new."""
    tender = await work.get(TenderOpportunity, tender_id)
    url = fields["url"]
    if url is not None:
        _check_https(url)
        if (known := await _with_url(work, tender_id, url)) is not None:
            return await _again(work, known, fetch=fetch), False
    await _check_room(work, tender_id)
    document = Document(
        organization_id=work.organization_id,
        shared=tender.shared and tender.organization_id == work.organization_id,
        tender_opportunity_id=tender_id,
        **fields,
    )
    if url is None:
        contents.await_content(document, now=work.now)
    elif fetch:
        document.fetch_state, document.next_check_at = FetchState.QUEUED, work.now
    await work.add(document)
    publish(work, document)
    if url is not None and fetch:
        work.enqueue(process_document, document_id=document.id)
    return document, True


def _check_https(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets without an address of version 6
        raise DocumentAddressRefused() from None
    if parts.scheme != "https" or parts.username or not parts.hostname:
        raise DocumentAddressRefused()


async def _with_url(work: Work, tender_id: UUID, url: str) -> Document | None:
    statement = select(Document).where(
        Document.tender_opportunity_id == tender_id,
        Document.organization_id == work.organization_id,
        Document.url == url,
        Document.superseded_by.is_(None),
    )
    return next(iter(await work.all(statement, limit=1)), None)


async def _again(work: Work, known: Document, *, fetch: bool) -> Document:
    if fetch and known.fetch_state in _WAITING:
        await _queue(work, known)
    return known


async def queue_refused(work: Work) -> None:
    """Queue documents again whose host a source names by now (OPP-21)."""
    host = func.substring(func.lower(Document.url), "^https://([^/:?#]+)", type_=sa.Text)
    statement = select(Document).where(
        Document.organization_id == work.organization_id,
        Document.fetch_state == FetchState.REFUSED,
        Document.reason_code == _FOREIGN,
        among(host, await allowed_hosts(work)),
    )
    found = await work.all(statement.order_by(Document.id), limit=_BATCH)
    for known in found:
        await _queue(work, known)
    if len(found) == _BATCH:
        work.enqueue(retry_refused)


async def _queue(work: Work, known: Document) -> None:
    """Have a document fetched again, as if nobody had tried."""
    held = await work.hold(known)
    DocumentFetchLifecycle.queue(held, at=work.now)
    held.attempts, held.missing_times, held.reason_code = 0, 0, None
    held.next_check_at = work.now
    await work.save(held)
    publish(work, held)
    work.enqueue(process_document, document_id=held.id)


async def _check_room(work: Work, tender_id: UUID) -> None:
    count = select(func.count()).where(
        Document.tender_opportunity_id == tender_id,
        Document.organization_id == work.organization_id,
    )
    if (await work.value(count) or 0) >= _MOST:
        raise RuleViolated(f"A tender can have at most {_MOST} documents.", rule="OPP-21")


async def get(read: Reader, tender_id: UUID, document_id: UUID) -> Document:
    """A document of this tender."""
    found = await read.get(Document, document_id)
    if found.tender_opportunity_id != tender_id:
        raise NotFound()
    return found


async def receive(work: Work, tender_id: UUID, document_id: UUID) -> Document:
    """Take the bytes of an upload into quarantine."""
    async with work.separate_reader() as read:
        document = await get(read, tender_id, document_id)
    if document.organization_id != work.organization_id:
        raise notices.OpportunityNotKeeper()
    if document.url is not None:
        raise DocumentUnavailable(
            "This document is fetched from its `url`. Add one without `url` to upload a file."
        )
    if await contents.receive(work, document, most_bytes=MOST_BYTES, media_types=MEDIA_TYPES):
        DocumentFetchLifecycle.store(document, at=work.now)
        await work.save(document)
        publish(work, document)
        work.enqueue(process_document, document_id=document.id)
    return document


def readable(document: Document) -> StoredFile:
    """The file of a document that was found clean."""
    if document.content_status is not ContentStatus.CLEAN:
        raise DocumentUnavailable()
    return contents.clean(document)


async def page_text(read: Reader, document: Document, number: int) -> DocumentPage:
    """The text of a page."""
    if document.content_status is not ContentStatus.CLEAN:
        raise DocumentUnavailable()
    found = await find_page(read, document.id, number)
    if found is None:
        raise NotFound()
    return found


async def find_page(read: Reader, document_id: UUID, number: int) -> DocumentPage | None:
    """A page that was read, of a document that the organization sees."""
    statement = select(DocumentPage).where(
        DocumentPage.document_id == document_id, DocumentPage.number == number
    )
    return next(iter(await read.all(statement, limit=1)), None)


async def allowed_hosts(read: Reader) -> set[str]:
    """The hosts from which documents are fetched: those that live sources name.

    A feed that was never read names none, so a new installation asks nobody.
    """
    is_in_use = (
        Source.address.is_(None)
        | (Source.status == SourceStatus.ACTIVE)
        | Source.last_run_at.is_not(None)
    )
    statement = select(Source).where(Source.status != SourceStatus.RETIRED, is_in_use)
    found = await read.all(statement, limit=1000)
    return {host for source in found for host in source.document_hosts}


def waits_for_fetch(document: Document) -> bool:
    """Whether the next step of a document is to fetch it."""
    return (
        document.url is not None
        and document.content_status is ContentStatus.AWAITING_CONTENT
        and document.fetch_state
        in (FetchState.NONE, FetchState.QUEUED, FetchState.FETCHING, FetchState.FAILED)
    )


async def record_file(work: Work, document_id: UUID, kept: StoredFile) -> bool:
    """Keep fetched bytes in quarantine; False if the document has its content already."""
    document = await work.lock(Document, document_id)
    if document.content_status is not ContentStatus.AWAITING_CONTENT:
        return False
    document.fetch_state = FetchState.FETCHING
    DocumentFetchLifecycle.store(document, at=work.now)
    ContentLifecycle.receive(document, at=work.now)
    document.object_key, document.sha256 = kept.key, kept.sha256
    document.size, document.media_type = kept.size, kept.media_type
    document.received_at, document.next_check_at = work.now, work.now
    document.reason_code = None
    await work.save(document)
    publish(work, document)
    work.enqueue(process_document, document_id=document.id)
    return True


async def record_miss(work: Work, document_id: UUID, reason: str) -> None:
    """Note why a document was not fetched, and when to ask again (OPP-21)."""
    document = await work.lock(Document, document_id)
    document.reason_code, document.next_check_at = reason, None
    document.attempts += 1
    if reason in (_FOREIGN, "address_refused"):
        document.fetch_state = FetchState.QUEUED
        DocumentFetchLifecycle.refuse(document, at=work.now)
    elif reason == "not_found" and document.missing_times + 1 >= _MISSING_TWICE:
        document.missing_times += 1
        DocumentFetchLifecycle.lose(document, at=work.now)
    else:
        document.missing_times += reason == "not_found"
        document.fetch_state = FetchState.FAILED
        if reason != "not_a_document" and document.attempts <= len(_DELAYS):
            wait = timedelta(minutes=_DELAYS[document.attempts - 1])
            document.next_check_at = work.now + wait
    await work.save(document)
    publish(work, document)


async def record_scan(work: Work, document: Document) -> None:
    """What follows a scan: a clean document is read, others never are."""
    if document.content_status is ContentStatus.CLEAN:
        document.text_state, document.next_check_at = TextState.QUEUED, work.now
        work.enqueue(process_document, document_id=document.id)
    else:
        document.text_state = TextState.UNSUPPORTED
        document.reason_code = document.refusal_reason
    await work.save(document)
    publish(work, document)


def scan_state(document: Document) -> public.requirements.ScanState:
    """The scan as the API names it."""
    match document.content_status:
        case ContentStatus.CLEAN:
            return "clean"
        case ContentStatus.INFECTED:
            return "infected"
        case ContentStatus.QUARANTINED:
            return "pending"
    return "none"


def publish(work: Work, document: Document) -> None:
    """Tell of a document: everybody of a shared one, its keeper of another."""
    event = public.TenderDocumentChanged(
        organization_id=None if document.shared else document.organization_id,
        document_id=document.id,
        tender_opportunity_id=document.tender_opportunity_id,
        document_type=document.document_type,
        fetch_state=document.fetch_state.value,
        scan_state=scan_state(document),
        text_state=document.text_state.value,
        index_state=document.index_state.value,
        sha256=document.sha256,
        superseded_by=document.superseded_by,
    )
    notices.tell(work, event, shared=document.shared)
