"""What a scan and a look at the structure find, and what follows for the document.

Nobody reads before the scan (CMP-9); structure is looked at in a child process (CMP-11).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.compliance import public
from thenga.domains.compliance.lifecycles import DocumentLifecycle
from thenga.domains.compliance.services.documents import facts
from thenga.domains.compliance.services.documents.classes import PERSONAL
from thenga.domains.compliance.settings import PERSONAL_DAYS
from thenga.domains.compliance.tables import Document, DocumentVersion
from thenga.kernel.db import configuration
from thenga.kernel.db.work import Work
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.files.store import PDF, FileStore, StoredFile
from thenga.kernel.outside.isolation import IsolationFailed, Reason, run_isolated
from thenga.kernel.values.calendar import local_day, local_midnight

MOST_PAGES = 500
_SECONDS = 20.0
_READ = "thenga.kernel.outside.pdf_text:read_pages"


@dataclass
class Structure:
    """Looks into a file that was found clean, in a child process, and remembers its pages."""

    files: FileStore
    pages: int | None = None

    async def examine(self, file: StoredFile) -> str | None:
        """The reason to refuse a PDF: a password, damage, too many pages."""
        if file.media_type != PDF:
            return None
        content = b"".join([chunk async for chunk in self.files.read(file.key)])
        try:
            found = await run_isolated(_READ, content, {"most_pages": 1}, seconds=_SECONDS)
        except IsolationFailed as failed:
            return "too_slow" if failed.reason is Reason.TIME else "damaged"
        if found.values["refused"] is not None:
            return str(found.values["refused"])
        self.pages = int(found.values["page_count"])
        return "too_many_pages" if self.pages > MOST_PAGES else None


async def record_outcome(work: Work, version: DocumentVersion, *, pages: int | None) -> Document:
    """What the end of an inspection means for the document; refused bytes change nothing else."""
    document = await work.lock(Document, version.document_id)
    if version.content_status is ContentStatus.CLEAN:
        await _make_current(work, document, version, pages)
    else:
        await work.touch(document)
        work.publish(
            public.DocumentRefused(
                organization_id=document.organization_id,
                document_id=document.id,
                document_version=version.number,
                document_type_code=document.document_type_code,
                content_status=version.content_status,
                refusal_reason=version.refusal_reason,
            )
        )
    return document


async def _make_current(
    work: Work, document: Document, version: DocumentVersion, pages: int | None
) -> None:
    replaced = document.current_version or None
    version.pages = pages
    is_renewal = replaced is not None and replaced < version.number
    document.current_version = max(document.current_version, version.number)
    await facts.set_last_day(work, document, version)
    if document.document_class == PERSONAL:
        await _plan_destruction(work, document, version)
    if is_renewal:  # what was awaited is here
        document.renewal_expected_on = document.renewal_reference = document.renewal_note = None
    document.next_check_at = work.now  # its expiry is told from now on
    await work.save(version)
    await work.touch(document)
    work.publish(
        public.DocumentUploaded(
            organization_id=document.organization_id,
            document_id=document.id,
            document_version=version.number,
            document_type_code=document.document_type_code,
            document_class=document.document_class,
            valid_until=version.valid_until,
            sha256=version.sha256,
            issued_on=version.issued_on,
            replaces=replaced,
        )
    )


async def _plan_destruction(work: Work, document: Document, version: DocumentVersion) -> None:
    """A certified copy serves three months; the file goes after 180 days (CMP-44)."""
    days = await configuration.value(work, PERSONAL_DAYS)
    certified_on = version.issued_on or local_day(work.now)
    document.destroy_on = certified_on + timedelta(days=days)
    version.next_check_at = max(
        local_midnight(document.destroy_on + timedelta(days=1)), work.now + timedelta(seconds=1)
    )


def is_due_for_destruction(version: DocumentVersion, now: datetime) -> bool:
    """Whether the file of a personal paper has to go now."""
    is_due = version.next_check_at is not None and version.next_check_at <= now
    return is_due and version.content_status is ContentStatus.CLEAN


async def destroy(work: Work, version_id: UUID) -> str | None:
    """Erase a personal paper: the facts and the file go, the hash stays; the key of the object."""
    version = await work.lock(DocumentVersion, version_id)
    document = await work.lock(Document, version.document_id)
    if document.document_class != PERSONAL or not is_due_for_destruction(version, work.now):
        return None
    key = version.object_key
    version.object_key = version.file_name = version.attributes_sealed = None
    version.document_number = version.issuer = version.holder_name = None
    version.attributes, version.next_check_at = {}, None
    await work.save(version)
    if version.number == document.current_version:
        document.title = document.subject_ref = document.next_check_at = None
        DocumentLifecycle.erase(document, at=work.now)
        await work.save(document)
    work.note(
        "compliance.document.destroyed", ("document", document.id), {"sha256": version.sha256}
    )
    return key
