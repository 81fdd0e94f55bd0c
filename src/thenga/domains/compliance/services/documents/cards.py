"""Documents as other domains see and open them: references and tickets, never addresses."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance import public
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services.documents import classes, queries, rights
from thenga.domains.compliance.tables import Document, DocumentStatus, DocumentVersion
from thenga.domains.identity import public as identity
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Forbidden, NotFound
from thenga.kernel.files import contents, tickets
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.values.calendar import local_day

LIVES = timedelta(minutes=15)


async def describe(read: Reader, refs: Sequence[public.DocumentRef]) -> list[public.DocumentCard]:
    """What became of each citation, in the order asked."""
    ids = list({ref.document_id for ref in refs})
    statement = select(Document).where(among(Document.id, ids))
    documents = {one.id: one for one in await read.all(statement)} if ids else {}
    versions = await queries.versions_of(read, list(documents))
    return [_card(read, ref, documents.get(ref.document_id), versions) for ref in refs]


async def classes_of(read: Reader, document_ids: Sequence[UUID]) -> list[public.DocumentClass]:
    """For whom documents are, in the order asked; of an unknown one the strictest is assumed."""
    statement = select(Document).where(among(Document.id, set(document_ids)))
    found = await read.all(statement) if document_ids else []
    known = {document.id: classes.public_class(document) for document in found}
    return [known.get(id_, "personal") for id_ in document_ids]


def _card(
    read: Reader,
    ref: public.DocumentRef,
    document: Document | None,
    versions: dict[UUID, list[DocumentVersion]],
) -> public.DocumentCard:
    if document is None:
        return public.DocumentCard(ref=ref, state="unknown")
    number = ref.version or document.current_version or document.latest_version
    version = next((one for one in versions[document.id] if one.number == number), None)
    if version is None:
        return public.DocumentCard(ref=ref, type=document.document_type_code, state="unknown")
    return public.DocumentCard(
        ref=ref,
        type=document.document_type_code,
        state=_state(read, document, version),
        content_status=version.content_status,
        version=version.number,
        valid_until=version.valid_until,
        media_type=version.media_type,
        bytes=version.size,
        sha256=version.sha256,
    )


def _state(read: Reader, document: Document, version: DocumentVersion) -> public.CitedState:
    if document.status is DocumentStatus.ERASED:
        return "erased"
    if version.content_status is not ContentStatus.CLEAN:
        return "unknown"
    is_over = version.valid_until is not None and version.valid_until < local_day(read.now)
    return "stale" if is_over or version.number != document.current_version else "live"


async def open_file(
    work: Work, document_id: UUID, *, version: int | None, purpose: str, on_behalf_of: UUID
) -> public.OpenedDocument:
    """A sealed ticket of the file store for our own processes, and a line in the trail."""
    async with work.separate_reader() as read:
        document = await read.get(Document, document_id)
        number = version or document.current_version or document.latest_version
        found = await read.find(DocumentVersion, document_id=document_id, number=number)
    if found is None:
        raise NotFound()
    await _demand(work, document, on_behalf_of)
    file = contents.clean(found)
    expires_at = work.now_in(timedelta(0)) + LIVES
    ticket = tickets.make_ticket(work.host, file.key, about=document.id, expires_at=expires_at)
    work.note(
        "compliance.document.opened",
        ("document", document.id),
        {"version": number, "purpose": purpose, "onBehalfOf": str(on_behalf_of)},
    )
    return public.OpenedDocument(
        document_class=classes.public_class(document),
        sha256=file.sha256,
        bytes=file.size,
        media_type=file.media_type,
        ticket=ticket,
        expires_at=expires_at,
        destroy_at=found.next_check_at,  # all that is left to do with a clean file
    )


async def _demand(work: Work, document: Document, user_id: UUID) -> None:
    holds = await rights.person_holds_all(
        work,
        [Permission.DOCUMENT_DOWNLOAD, *classes.needed_to_read(document, user_id)],
        person=identity.ActorRef(type="user", id=user_id),
        organization_id=document.organization_id,
        document_id=document.id,
        channel="job",
    )
    if not holds:
        raise Forbidden("This person cannot download the document.")
