"""The bytes of a document: a version is reserved first, then they stream into quarantine (CMP-7).

The first content needs no version; later content is a new version and names the version of the
document that it replaces in `If-Match`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services.documents import classes, rights, types
from thenga.domains.compliance.tables import (
    Document,
    DocumentStatus,
    DocumentType,
    DocumentVersion,
)
from thenga.kernel.db.read_audit import separate_work
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import (
    Conflict,
    Erased,
    PreconditionRequired,
    Problem,
    StaleVersion,
    UnsupportedMediaType,
    ValidationFailed,
    extensions,
)
from thenga.kernel.files import contents
from thenga.kernel.files.contents import ContentLifecycle, ContentStatus

_SETTLED = (ContentStatus.CLEAN, ContentStatus.INFECTED, ContentStatus.REFUSED)
_UNREAD = (ContentStatus.AWAITING_CONTENT, ContentStatus.QUARANTINED)
SAME_BYTES = "same_bytes"  # a version that was never one; nobody is shown it
RECEIVING = timedelta(hours=1)  # how long a reserved version of a document waits for its bytes

inspect_version = job_stub("compliance.inspect_version", form=Form.OUTSIDE, key="{version_id}")

# The types that are taken, by the endings of their names.
MEDIA_TYPES = {
    "pdf": "application/pdf",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "png": "image/png",
}


class TypeRefused(Problem):
    """This document type does not accept this kind of file. Upload one that `allowed` lists."""

    code, status, title = "compliance-type-refused", 415, "This kind of file is not accepted"
    members = extensions(
        found=(str, "Kind of file."), allowed=(list[str], "Accepted kinds of file.")
    )


class ContentMismatch(Problem):
    """The content of the file does not match its extension. Upload the original file with the
    right extension."""

    code, status, title = "compliance-content-mismatch", 415, "The file does not match its name"
    members = extensions(
        found=(str, "Kind of file detected from its content."),
        declared=(str, "Kind of file according to its name."),
    )


class DigestMismatch(Problem):
    """The content received does not match `Content-Digest`. Upload the file again."""

    code, status, title = "compliance-digest-mismatch", 422, "The upload was corrupted"


@dataclass(frozen=True, slots=True)
class Received:
    """The document, and whether its bytes are new."""

    document: Document
    is_new: bool


async def receive(work: Work, document_id: UUID) -> Received:
    """Take the bytes of a document into quarantine; the same bytes again change nothing."""
    expected, work.if_match = work.if_match, None
    async with work.separate_reader() as read:
        document = await read.get(Document, document_id)
        version = await newest_version(read, document_id)
        await _check_uploadable(read, document, version)
        kind = await types.type_in_force(read, document.document_type_code)
    _check_active(document)
    if expected is not None and expected != document.version:
        raise StaleVersion(currentVersion=document.version)
    if expected is not None and version.content_status is not ContentStatus.AWAITING_CONTENT:
        version = await _reserve(work, document_id)
    await _stream(work, version, kind, declared=_declared(version.file_name))
    return await _record(work, document_id, version)


async def _check_uploadable(read: Reader, document: Document, version: DocumentVersion) -> None:
    """A document that the caller cannot read does not exist; a personal one has its own right.

    A caller who added a personal document with that right alone brings its first file.
    """
    is_personal = document.document_class == classes.PERSONAL
    is_first = version.number == 1 and version.content_status in _UNREAD
    if not (is_personal and is_first and classes.is_own(document, read.actor.id)):
        await classes.check_readable(read, document)
    if is_personal:
        await rights.demand(read, Permission.PERSONAL_DOCUMENT_UPLOAD)


async def newest_version(read: Reader, document_id: UUID) -> DocumentVersion:
    """The newest version of a document, whatever became of its content."""
    newest = select(DocumentVersion).where(DocumentVersion.document_id == document_id)
    (found,) = await read.all(newest.order_by(DocumentVersion.number.desc()), limit=1)
    return found


def _check_active(document: Document) -> None:
    if document.status is DocumentStatus.ERASED:
        raise Erased()


async def _reserve(work: Work, document_id: UUID) -> DocumentVersion:
    """The next version, in a short transaction of its own: none waits for the bytes."""
    async with separate_work(work) as first:
        document = await first.lock(Document, document_id)
        latest = await newest_version(first, document_id)
        if latest.content_status is ContentStatus.AWAITING_CONTENT:
            return latest  # of two at once, the bytes of one are kept
        version = DocumentVersion(
            organization_id=document.organization_id,
            document_id=document.id,
            number=latest.number + 1,
            file_name=latest.file_name,
            attributes={},
        )
        version.next_check_at = first.now + RECEIVING
        return await first.add(version)


async def _stream(
    work: Work, version: DocumentVersion, kind: DocumentType, *, declared: str | None
) -> None:
    """Only bytes of the declared kind are kept; whatever is refused leaves no object."""
    allowed = frozenset(kind.media_types)
    if declared is not None and declared not in allowed:
        raise TypeRefused(
            f"This document type does not accept {declared}. Send one of: {_listed(allowed)}.",
            found=declared,
            allowed=sorted(allowed),
        )
    is_renewable = version.content_status in _SETTLED
    taken = allowed if declared is None else {declared}
    try:
        await contents.receive(work, version, most_bytes=kind.max_bytes, media_types=taken)
    except UnsupportedMediaType as refusal:
        raise _other_kind(refusal, allowed, declared) from None
    except ValidationFailed:  # raised for the digest alone
        raise DigestMismatch() from None
    except Conflict:
        if not is_renewable:
            raise  # of two first uploads one is kept
        raise PreconditionRequired(
            "This document already has content. To upload a new version, send the version of the "
            "document in `If-Match`."
        ) from None


def _other_kind(refusal: Problem, allowed: Collection[str], declared: str | None) -> Problem:
    found = str(refusal.facts["found"])
    if declared is not None:
        return ContentMismatch(
            f"The file name says {declared}, but the content is {found}.",
            found=found,
            declared=declared,
        )
    return TypeRefused(
        f"This file is {found}. Send one of: {_listed(allowed)}.",
        found=found,
        allowed=sorted(allowed),
    )


def _listed(kinds: Collection[str]) -> str:
    return ", ".join(sorted(kinds))


def _declared(file_name: str | None) -> str | None:
    """The kind that the ending of the name declares (CMP-8)."""
    _, dot, ending = (file_name or "").rpartition(".")
    return MEDIA_TYPES.get(ending.lower(), f".{ending.lower()}") if dot else None


async def _record(work: Work, document_id: UUID, version: DocumentVersion) -> Received:
    """The second unit of work: what came in, by whom; the same bytes as before are let go."""
    document = await work.lock(Document, document_id)
    if version.content_status is not ContentStatus.QUARANTINED or version.uploaded_by is not None:
        return Received(document, is_new=False)
    current = await work.find(
        DocumentVersion, document_id=document_id, number=document.current_version
    )
    if current is not None and current.sha256 == version.sha256:
        assert version.object_key is not None  # noqa: S101  # it was just received
        await work.host.files.delete(version.object_key)
        ContentLifecycle.refuse(version, at=work.now)
        version.refusal_reason, version.object_key, version.next_check_at = SAME_BYTES, None, None
        await work.save(version)
        return Received(document, is_new=False)
    version.uploaded_by = work.actor.person_id
    await work.save(version)
    document.latest_version, document.brought_by = version.number, work.actor.id
    await work.touch(document)
    work.enqueue(inspect_version, version_id=version.id)
    return Received(document, is_new=True)
