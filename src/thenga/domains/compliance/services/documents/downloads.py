"""Download links: a ticket of a few minutes and uses, for the person who asked (CMP-12, CMP-44).

Identity is asked again at each use, so a right that has ended or a revoked session ends the link.
Whatever is wrong with a ticket, the answer is the same.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services.documents import classes, rights
from thenga.domains.compliance.services.documents.classes import PERSONAL
from thenga.domains.compliance.services.documents.documents import PurposeRequired, get_document
from thenga.domains.compliance.settings import DOWNLOAD_SECONDS
from thenga.domains.compliance.tables import (
    Document,
    DocumentStatus,
    DocumentVersion,
    DownloadTicket,
    Evidence,
    VerificationTicket,
)
from thenga.domains.identity import public as identity
from thenga.kernel.crypto import tokens
from thenga.kernel.db import configuration, step_up
from thenga.kernel.db.read_audit import separate_work
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import FileNotClean, NotFound
from thenga.kernel.files import contents
from thenga.kernel.files.store import StoredFile
from thenga.kernel.values.ids import new_id

MOST_USES = 5
_BASE = timedelta(0)


@dataclass(frozen=True, slots=True)
class Link:
    """A ticket, shown once, and the file that it opens."""

    ticket: str
    expires_at: datetime
    sha256: str


@dataclass(frozen=True, slots=True)
class Download:
    """A file that may be sent, and the name that people see."""

    file: StoredFile
    name: str


async def make_link(
    work: Work, document_id: UUID, *, version: int | None, purpose: str | None
) -> Link:
    """A ticket for one version; a personal one needs a purpose, a right and a fresh proof."""
    async with work.separate_reader() as read:
        document = await get_document(read, document_id)
    if document.document_class == PERSONAL:
        if not purpose:
            raise PurposeRequired()
        step_up.demand(work)
    if rights.is_staff(work):
        await _check_asked(work, document)
    number = version or document.current_version or document.latest_version
    found = await work.find(DocumentVersion, document_id=document_id, number=number)
    if found is None:
        raise NotFound()
    file = contents.clean(found)
    seconds = await configuration.value(work, DOWNLOAD_SECONDS)
    text = tokens.mint(tokens.Prefix.TICKET)
    ticket = DownloadTicket(
        id=new_id(),
        hash=tokens.digest(text),
        organization_id=document.organization_id,
        document_id=document.id,
        version_id=found.id,
        user_id=_holder(work),
        session_id=work.actor.session_id,
        purpose=purpose,
        uses_left=MOST_USES,
        expires_at=work.now_in(_BASE) + timedelta(seconds=seconds),
    )
    await work.present(ticket.hash)
    await work.add(ticket)
    if document.document_class == PERSONAL:
        work.note(
            "compliance.document.download_requested",
            ("document", document.id),
            {"version": number, "purpose": purpose},
        )
    return Link(text, ticket.expires_at, file.sha256)


async def _check_asked(work: Work, document: Document) -> None:
    """Staff download only what the company has asked the platform to verify."""
    asked = (
        select(VerificationTicket.id)
        .join(Evidence.__table__, Evidence.id == VerificationTicket.evidence_id)
        .where(
            VerificationTicket.tenant_id == document.organization_id,
            VerificationTicket.closed_at.is_(None),
            Evidence.organization_id == document.organization_id,
            Evidence.document_id == document.id,
        )
    )
    if document.document_class == PERSONAL or await work.value(asked.limit(1)) is None:
        raise NotFound()


async def open_ticket(read: Reader, text: str) -> Download:
    """The file of a ticket, or the one 404 of all that is wrong."""
    if tokens.parse(text) is not tokens.Prefix.TICKET:
        raise NotFound()
    async with separate_work(read) as work:
        ticket = await _use(work, tokens.digest(text))
        await work.enter_organization(ticket.organization_id)
        document = await work.get(Document, ticket.document_id)
        version = await work.get(DocumentVersion, ticket.version_id)
    if document.status is not DocumentStatus.ACTIVE:
        raise NotFound()
    await _ask_again(read, ticket, document)
    try:
        file = contents.clean(version)
    except FileNotClean:
        raise NotFound() from None
    if document.document_class == PERSONAL:
        await _note(read, ticket)
    return Download(file, version.file_name or document.document_type_code)


async def _use(work: Work, digest: bytes) -> DownloadTicket:
    """Count one use, locked: of six at once, five pass."""
    await work.present(digest)
    ticket = await work.lock_by(DownloadTicket, hash=digest)
    if ticket.uses_left < 1 or ticket.expires_at <= work.now:
        raise NotFound()
    ticket.uses_left -= 1
    return await work.save(ticket)


async def _ask_again(read: Reader, ticket: DownloadTicket, document: Document) -> None:
    holds = await rights.person_holds_all(
        read,
        [Permission.DOCUMENT_DOWNLOAD, *classes.needed_to_read(document, ticket.user_id)],
        person=identity.ActorRef(type="user", id=ticket.user_id, session_id=ticket.session_id),
        organization_id=ticket.organization_id,
        document_id=document.id,
        channel="http",
    )
    if not holds:
        raise NotFound()


async def _note(read: Reader, ticket: DownloadTicket) -> None:
    """Each download of a personal paper stands in the trail, with the person and the purpose."""
    async with separate_work(read) as work:
        await work.enter_organization(ticket.organization_id)
        work.note(
            "compliance.document.downloaded",
            ("document", ticket.document_id),
            {
                "versionId": str(ticket.version_id),
                "purpose": ticket.purpose,
                "userId": str(ticket.user_id),
            },
        )


def _holder(work: Work) -> UUID:
    if work.actor.id is None:
        raise LookupError("nobody acts in this unit of work")
    return work.actor.id
