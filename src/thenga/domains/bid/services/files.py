"""Files of a bid: received, scanned before anyone reads them, and as secret as what they hold."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import BidFile, Workspace
from thenga.domains.identity import public as identity
from thenga.kernel.db import step_up
from thenga.kernel.db.read_audit import tell
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import NotFound, RuleViolated
from thenga.kernel.files import contents
from thenga.kernel.files.contents import ContentLifecycle, ContentStatus
from thenga.kernel.files.store import PDF, FileStore, StoredFile
from thenga.kernel.values.ids import new_id

MOST_BYTES = 50 * 1024 * 1024
_OFFICE = "application/vnd.openxmlformats-officedocument."
MEDIA_TYPES = (
    PDF,
    "image/jpeg",
    "image/png",
    "text/plain",
    "text/csv",
    f"{_OFFICE}wordprocessingml.document",
    f"{_OFFICE}spreadsheetml.sheet",
)
Purpose = Literal[
    "buyers_form", "signed_scan", "attachment", "bill_of_quantities", "proof", "award", "other"
]
RENDERING, PACK_PART, ARCHIVE = "rendering", "pack_part", "archive"  # made here

PERSONAL, CONFIDENTIAL = "personal", "confidential"
_READING = {  # what a reader of such a document must hold in Compliance
    PERSONAL: "compliance:personal_document:read",
    CONFIDENTIAL: "compliance:confidential_document:read",
}

PERSONAL_KEPT = timedelta(days=180)  # the longest that Compliance keeps a personal document

inspect_file = job_stub("bid.inspect_file", form=Form.OUTSIDE, key="{file_id}")


@dataclass(frozen=True, slots=True)
class Received:
    """The file, and whether its bytes are new."""

    file: BidFile
    is_new: bool


@dataclass(frozen=True, slots=True)
class Download:
    """A file that may be sent, and the name that people see."""

    file: StoredFile
    name: str


async def add_file(
    work: Work, workspace_id: UUID, *, name: str, purpose: Purpose, price: bool
) -> BidFile:
    """Begin a file; its bytes come within 24 hours."""
    needs = (Need.READ, Need.PRICE) if price else (Need.READ,)
    workspace = await workspaces.workspace_for(work, workspace_id, *needs)
    file = BidFile(
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        name=name,
        purpose=purpose,
        price=price,
        added_by=workspaces.person_of(work),
    )
    contents.await_content(file, now=work.now)
    return await work.add(file)


async def receive(work: Work, file_id: UUID) -> Received:
    """Take the bytes of a file into quarantine; the same bytes again change nothing."""
    async with work.separate_reader() as read:
        file = await _seen(read, file_id)
    is_new = await contents.receive(work, file, most_bytes=MOST_BYTES, media_types=MEDIA_TYPES)
    if is_new:
        work.enqueue(inspect_file, file_id=file_id)
    return Received(await work.get(BidFile, file_id), is_new)


async def get_file(read: Reader, file_id: UUID) -> BidFile:
    """A file for somebody who needs to know; one with prices for those who may see them, and one
    with documents of the company, or numbers from them, for those who may read these (BID-56)."""
    return await _seen(read, file_id)


async def download(read: Reader, file_id: UUID) -> Download:
    """The content of a clean file. One that holds personal or confidential documents is recorded
    in the trail before it leaves; a personal one needs a fresh proof, as its document does."""
    file = await _seen(read, file_id)
    if file.document_class == PERSONAL:
        step_up.demand(read)
    stored = contents.clean(file)
    if file.document_class is not None:
        detail = {
            "documentClass": file.document_class,
            "purpose": "bid_pack" if file.purpose == ARCHIVE else "bid_form",
            "userId": str(read.actor.id),
        }
        await tell(read, "bid.file.downloaded", ("file", file.id), detail)
    return Download(stored, file.name)


def strictest(classes: Iterable[str | None]) -> str | None:
    """The class of a file that is made of documents of these classes; none of ordinary ones."""
    found = set(classes)
    return next((name for name in _READING if name in found), None)


async def _seen(read: Reader, file_id: UUID) -> BidFile:
    file = await read.get(BidFile, file_id)
    needs = (Need.READ, Need.PRICE) if file.price else (Need.READ,)
    await workspaces.seen_workspace(read, file.workspace_id, *needs)
    if file.document_class is not None:
        await identity.demand(read, _READING[file.document_class], on="compliance.document")
    return file


async def clean_file(read: Reader, workspace_id: UUID, file_id: UUID) -> BidFile:
    """A clean file of a workspace; 409 while it is not clean, 404 if it is of another one."""
    file = await read.get(BidFile, file_id)
    if file.workspace_id != workspace_id:
        raise NotFound()
    contents.clean(file)
    return file


async def check_clean(read: Reader, workspace_id: UUID, file_ids: Iterable[UUID]) -> list[BidFile]:
    """The files of a workspace that were named, each of them clean."""
    found = await named_files(read, workspace_id, file_ids)
    for file in found:
        contents.clean(file)
    return found


async def named_files(read: Reader, workspace_id: UUID, file_ids: Iterable[UUID]) -> list[BidFile]:
    """The files of a workspace that were named, in their order, clean or not."""
    wanted = list(dict.fromkeys(file_ids))
    if not wanted:
        return []
    found = await read.all(select(BidFile).where(among(BidFile.id, wanted)))
    known = {file.id: file for file in found if file.workspace_id == workspace_id}
    missing = [str(one) for one in wanted if one not in known]
    if missing:
        raise RuleViolated("These files do not belong to this bid.", rule="BID-41", unknown=missing)
    return [known[one] for one in wanted]


async def put(store: FileStore, organization_id: UUID, content: bytes) -> StoredFile:
    """Store bytes that were made here; before the first write of a unit of work."""
    area = f"bid/made/{organization_id}"
    return await store.put(area, _once(content), most_bytes=len(content))


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def keep(
    work: Work,
    workspace: Workspace,
    stored: StoredFile,
    *,
    name: str,
    purpose: str,
    price: bool,
    document_class: str | None = None,
    destroy_at: datetime | None = None,
) -> BidFile:
    """The row of bytes that were made here; there is nothing to scan in them.

    An archive ends with the personal documents in it. A printed form is the bid's own record and
    stays, with its class.
    """
    file = BidFile(
        id=new_id(),
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        name=name,
        purpose=purpose,
        price=price,
        document_class=document_class,
        object_key=stored.key,
        sha256=stored.sha256,
        size=stored.size,
        media_type=stored.media_type,
        received_at=work.now,
        scanned_at=work.now,
        next_check_at=destroy_at,
    )
    ContentLifecycle.receive(file, at=work.now)
    ContentLifecycle.pass_(file, at=work.now)
    return await work.add(file)


async def take_class(work: Work, file_id: UUID, *, of: UUID) -> None:
    """A scan shows what its print shows, so it is for the same readers."""
    source = await work.get(BidFile, of)
    file = await work.lock(BidFile, file_id, beside=True)
    file.document_class = strictest([file.document_class, source.document_class])
    await work.save(file)


def is_due_for_destruction(file: BidFile, now: datetime) -> bool:
    """Whether an archive has to go with the personal documents in it."""
    is_due = file.next_check_at is not None and file.next_check_at <= now
    return is_due and file.content_status is ContentStatus.CLEAN


async def destroy(work: Work, file_id: UUID) -> None:
    """Forget where the bytes of an archive were, and keep its hash (BID-56)."""
    file = await work.lock(BidFile, file_id)
    if is_due_for_destruction(file, work.now):
        file.object_key = file.next_check_at = None
        await work.save(file)
        work.note("bid.file.destroyed", ("file", file.id), {"sha256": file.sha256})


async def content_of(store: FileStore, file: BidFile) -> bytes:
    """The bytes of a clean file."""
    stored = contents.clean(file)
    return b"".join([chunk async for chunk in store.read(stored.key)])
