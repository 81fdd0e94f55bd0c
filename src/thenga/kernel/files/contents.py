"""The content of a file: received, scanned, and readable only when it was found clean.

A row of the domain says how far its content is. The bytes come in before the first statement, so
no transaction waits for a sender; a job of the domain scans them, so no transaction waits for the
scanner. Until then nobody reads them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
import structlog

from thenga.kernel.db.columns import instant, number, text
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import Conflict, FileNotClean, NotFound, TooLarge, ValidationFailed
from thenga.kernel.files.scanner import Outcome, Verdict
from thenga.kernel.files.store import FileStore, StoredFile

if TYPE_CHECKING:
    from thenga.kernel.jobs.run import Run

log = structlog.get_logger()

AWAITED = timedelta(hours=24)  # how long a row waits for its content
KEPT_INFECTED = timedelta(days=30)
_SCANNED_AGAIN = timedelta(minutes=1)  # found by the domain's sweep where its job was lost
_LATE = timedelta(hours=24)  # unscanned for so long is for an operator
DAMAGED = "damaged"


class ContentStatus(StrEnum):
    """Upload and scan status of a file."""

    AWAITING_CONTENT = "awaiting_content"
    QUARANTINED = "quarantined"
    CLEAN = "clean"
    INFECTED = "infected"
    REFUSED = "refused"
    LAPSED = "lapsed"


class ContentLifecycle(Lifecycle, initial=ContentStatus.AWAITING_CONTENT, axis="content_status"):
    """Only a scan leads to `clean`, and nothing leads out of where it ends."""

    receive = Move(ContentStatus.AWAITING_CONTENT, to=ContentStatus.QUARANTINED, by=By.SYSTEM)
    pass_ = Move(ContentStatus.QUARANTINED, to=ContentStatus.CLEAN, by=By.SYSTEM)
    condemn = Move(ContentStatus.QUARANTINED, to=ContentStatus.INFECTED, by=By.SYSTEM)
    refuse = Move(ContentStatus.QUARANTINED, to=ContentStatus.REFUSED, by=By.SYSTEM)
    lapse = Move(ContentStatus.AWAITING_CONTENT, to=ContentStatus.LAPSED, by=By.SYSTEM)


class ContentRow(TenantRow):
    """The columns of a row that has content; a table of its domain adds its own."""

    content_status: Col[ContentStatus] = status(
        ContentStatus, default=ContentStatus.AWAITING_CONTENT
    )
    object_key: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    sha256: Col[str | None] = col(sa.Text, nullable=True, default=None)
    size: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    media_type: Col[str | None] = col(sa.Text, nullable=True, default=None)
    refusal_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    received_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    scanned_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


R = TypeVar("R", bound=ContentRow)
# What a domain looks at itself before a file is clean: a reason to refuse it, or none.
Examine = Callable[[StoredFile], Awaitable[str | None]]
# What a domain does in the transaction that ends the inspection, such as telling of it.
Then = Callable[[Work, R], Awaitable[None]]


def content_columns() -> tuple[sa.Column[Any], ...]:
    """The columns of `ContentRow` for `make_table`, which also needs the two indexes of `due`."""
    return (
        text("content_status"),
        text("object_key", nullable=True),
        text("sha256", nullable=True),
        number("size", nullable=True),
        text("media_type", nullable=True),
        text("refusal_reason", nullable=True),
        instant("received_at", nullable=True),
        instant("scanned_at", nullable=True),
        instant("next_check_at", nullable=True),
    )


CONTENT_INDEXES = (("next_check_at",), ("organization_id", "next_check_at"))


def await_content(row: ContentRow, *, now: datetime) -> None:
    """Begin to wait for the content of a new row; without it the row lapses."""
    row.next_check_at = now + AWAITED


async def receive(
    work: Work, row: ContentRow, *, most_bytes: int, media_types: Collection[str]
) -> bool:
    """Take the bytes of an `uploads` route into quarantine; False if these are there already.

    Read the row by `work.separate_reader()`: the bytes come before the first statement. Then it is
    locked, and of two uploads at once one is stored and one refused.
    """
    if work.upload is None or work.has_begun:
        raise RuntimeError("`receive` comes first; read the row by `work.separate_reader()`")
    if row.content_status is not ContentStatus.AWAITING_CONTENT:
        return await _received_again(work, row, most_bytes)
    files = work.host.files
    kept = await files.put(
        quarantine_of(work.domain, row),
        work.upload,
        most_bytes=most_bytes,
        media_types=media_types,
    )
    try:
        _check_digest(work, kept.sha256)
        held = await work.hold(row)
        _check_same(held, kept.sha256)
    except BaseException:
        await files.delete(kept.key)
        raise
    if held.content_status is not ContentStatus.AWAITING_CONTENT:
        await files.delete(kept.key)  # the same bytes came twice at once
        return False
    ContentLifecycle.receive(held, at=work.now)
    held.object_key, held.sha256 = kept.key, kept.sha256
    held.size, held.media_type = kept.size, kept.media_type
    held.received_at, held.next_check_at = work.now, work.now + _SCANNED_AGAIN
    await work.save(held)
    return True


async def _received_again(work: Work, row: ContentRow, most_bytes: int) -> bool:
    """The same bytes change nothing; others are refused, because content is never replaced."""
    assert work.upload is not None  # noqa: S101  # seen by the caller
    digest, size = sha256(), 0
    async for chunk in work.upload:
        size += len(chunk)
        if size > most_bytes:
            raise TooLarge(f"The file can have at most {most_bytes} bytes.", limitBytes=most_bytes)
        digest.update(chunk)
    _check_same(row, digest.hexdigest())
    return False


def _check_same(row: ContentRow, found: str) -> None:
    if row.content_status is not ContentStatus.AWAITING_CONTENT and row.sha256 != found:
        raise Conflict("This file already has content that cannot be replaced. Upload a new file.")


def _check_digest(work: Work, found: str) -> None:
    if work.upload_digest not in (None, found):
        fault = {
            "pointer": "/header/Content-Digest",
            "code": "digest",
            "detail": "The upload does not match its `Content-Digest`. Send the file again.",
        }
        raise ValidationFailed(errors=[fault])


def clean(row: ContentRow) -> StoredFile:
    """The file of a row, for `answers.attachment`; 409 as long as it was not found clean, 404 when
    its bytes were destroyed."""
    if row.content_status is not ContentStatus.CLEAN:
        raise FileNotClean(_NOT_CLEAN[row.content_status], contentStatus=row.content_status)
    if row.object_key is None:
        raise NotFound("The content of this file was destroyed.")
    return _stored(row)


_NOT_CLEAN = {
    ContentStatus.AWAITING_CONTENT: "This file has not been uploaded yet. Upload it first.",
    ContentStatus.QUARANTINED: "This file is waiting for its scan. Try again in a moment.",
    ContentStatus.INFECTED: "The scanner found malware in this file. Upload another file.",
    ContentStatus.REFUSED: "This file could not be checked and was refused. Upload another file.",
    ContentStatus.LAPSED: "This file was not uploaded in time. Start a new upload.",
}


async def inspect(
    run: "Run",
    row: type[R],
    id: UUID,  # noqa: A002
    *,
    examine: Examine | None = None,
    then: Then[R] | None = None,
) -> None:
    """What is due with the content of one row; the body of an `outside` job of its domain.

    What was received is scanned, looked at by the domain (`examine`) and then clean or refused;
    what never came lapses; what is infected or refused is destroyed in the end.
    """
    async with run.reading() as read:
        seen, now = await read.get(row, id), read.now
    if seen.content_status is ContentStatus.QUARANTINED:
        await _scan(run, seen, now, examine, then)
    elif seen.next_check_at is not None and seen.next_check_at <= now:
        await _let_go(run, seen, then)


async def _scan(
    run: "Run", seen: R, now: datetime, examine: Examine | None, then: Then[R] | None
) -> None:
    files, file = run.host.files, _stored(seen)
    if seen.received_at is not None and now - seen.received_at > _LATE:
        log.error("files.content.unscanned", table=type(seen).__table__.fullname, id=str(seen.id))
    verdict = await _verdict(run, file)
    if verdict.outcome is Outcome.CLEAN and examine is not None:
        reason = await examine(file)
        verdict = verdict if reason is None else Verdict(Outcome.UNSCANNABLE, reason)
    key = file.key
    if verdict.outcome is Outcome.CLEAN:
        key = await files.copy(file.key, f"{run.job.domain}/clean/{seen.organization_id}")
    async with run.working() as work:
        held = await work.lock(type(seen), seen.id)
        if held.content_status is not ContentStatus.QUARANTINED:
            return
        _conclude(held, verdict, key, at=work.now)
        await work.save(held)
        if then is not None:
            await then(work, held)
    if key != file.key:
        await files.clear(quarantine_of(run.job.domain, seen))


async def _verdict(run: "Run", file: StoredFile) -> Verdict:
    """What the scanner says of exactly the bytes that were received."""
    digest = sha256()
    verdict = await run.host.scanner.scan(_hashed(run.host.files, file.key, digest))
    if verdict.outcome is Outcome.CLEAN and digest.hexdigest() != file.sha256:
        return Verdict(Outcome.UNSCANNABLE, DAMAGED)
    return verdict


async def _hashed(files: FileStore, key: str, digest: Any) -> AsyncIterator[bytes]:
    async for chunk in files.read(key):
        digest.update(chunk)
        yield chunk


def _conclude(row: ContentRow, verdict: Verdict, key: str, *, at: datetime) -> None:
    row.scanned_at, row.object_key, row.refusal_reason = at, key, verdict.found
    if verdict.outcome is Outcome.CLEAN:
        ContentLifecycle.pass_(row, at=at)
        row.next_check_at = None
        return
    move = _MOVES[verdict.outcome]
    move(row, at=at)
    row.next_check_at = at + KEPT_INFECTED


_MOVES = {
    Outcome.INFECTED: ContentLifecycle.condemn,
    Outcome.UNSCANNABLE: ContentLifecycle.refuse,
}


async def _let_go(run: "Run", seen: R, then: Then[R] | None) -> None:
    """Lapse what never came; destroy what nobody may ever read, and what a process left behind
    that died between the last byte and the row."""
    async with run.working() as work:
        held = await work.lock(type(seen), seen.id)
        lapsed = held.content_status is ContentStatus.AWAITING_CONTENT
        if lapsed:
            ContentLifecycle.lapse(held, at=work.now)
        held.next_check_at = None
        if held.content_status is not ContentStatus.CLEAN:
            held.object_key = None
            await run.host.files.clear(quarantine_of(run.job.domain, held))
        await work.save(held)
        if lapsed and then is not None:
            await then(work, held)


def _stored(row: ContentRow) -> StoredFile:
    key, digest, size, media_type = row.object_key, row.sha256, row.size, row.media_type
    if key is None or digest is None or size is None or media_type is None:
        raise LookupError(f"{row!r} has no content")
    return StoredFile(key, digest, size, media_type)


def quarantine_of(domain: str, row: ContentRow) -> str:
    """The area of what came for a row and was not found clean."""
    return f"{domain}/quarantine/{row.organization_id}/{row.id}"
