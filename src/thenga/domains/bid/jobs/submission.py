"""Jobs of files, approvals and packs: scanning, what time does, and building."""

from datetime import timedelta
from uuid import UUID

import structlog

from thenga.domains.bid.jobs.declared import jobs
from thenga.domains.bid.services import approvals, files, packs
from thenga.domains.bid.services.packs import FileChanged, Order, Paper
from thenga.domains.bid.tables import Approval, BidFile
from thenga.domains.compliance.public import Documents
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable, Problem
from thenga.kernel.files import contents
from thenga.kernel.files.tickets import open_ticket
from thenga.kernel.jobs.due import due, when_due
from thenga.kernel.jobs.run import Run
from thenga.kernel.ports.binding import Unbound

log = structlog.get_logger()

_EVERY = timedelta(seconds=30)
_BATCH = 500
_TRIES = 3


@jobs.implements(files.inspect_file)
async def inspect_file(run: Run, *, file_id: UUID) -> None:
    """Scan a file of a bid; let go of what never came; destroy an archive in the end (BID-56)."""
    async with run.reading() as read:
        file, now = await read.get(BidFile, file_id), read.now
    if not files.is_due_for_destruction(file, now):
        await contents.inspect(run, BidFile, file_id)
        return
    if file.object_key is not None:  # before the row says so: a crash between them repeats it
        await run.host.files.delete(file.object_key)
    async with run.working() as work:
        await files.destroy(work, file_id)


jobs.moved[BidFile] = (inspect_file, "file_id")


@jobs.every(timedelta(seconds=10))
async def find_to_inspect_file(work: Work) -> None:
    """Find files that wait for their scan, their bytes or their end."""
    for organization_id, file_id in await due(work, BidFile, limit=_BATCH):
        work.enqueue(inspect_file, organization_id=organization_id, file_id=file_id)


@when_due(jobs, Approval, every=_EVERY)
async def expire_approval(work: Work, *, approval_id: UUID) -> None:
    """End an approval that nobody decided in time."""
    await approvals.expire(work, approval_id)


@jobs.implements(packs.build_pack)
async def build_pack(run: Run, *, pack_id: UUID, build: int) -> None:
    """Fetch, print and archive without a transaction, then record once."""
    try:
        await _build(run, pack_id, build)
    except FileChanged as changed:
        await _fail(run, pack_id, build, f"{changed} is not what was pinned")
    except DependencyUnavailable as silent:
        if run.lease.attempt < _TRIES - 1:
            raise
        await _fail(run, pack_id, build, f"a document could not be fetched: {silent.title}")
    except Problem as refused:
        await _fail(run, pack_id, build, refused.title)


async def _build(run: Run, pack_id: UUID, build: int) -> None:
    async with run.reading() as read:
        order = await packs.order_of(read, pack_id, build)
    if order is None:
        return
    papers = {
        pin["id"]: await _fetch(run, order, pin["document_id"], pin["version"], pin["id"])
        for pin in order.pack.pins
        if pin["kind"] == "evidence"
    }
    built = await packs.build(order, run.host.files, papers)
    async with run.working() as work:
        await packs.record(work, order, built)


async def _fetch(
    run: Run, order: Order, document_id: str, version: int | None, evidence_id: str
) -> Paper:
    """The bytes and class of a document, by a ticket of Compliance for who assembles the pack."""
    person, now = order.pack.requested_by, run.host.now()
    if person is None:
        raise FileChanged(f"Evidence {evidence_id}")
    try:
        port = run.port(Documents)
    except Unbound:
        raise DependencyUnavailable(dependency=Documents.port_name) from None
    opened = await port.open(
        organization_id=order.pack.organization_id,
        document_id=UUID(document_id),
        version=version,
        purpose="bid_pack",
        on_behalf_of=person,
        key=f"bid:pack:{order.pack.id}:{evidence_id}",
    )
    key = open_ticket(run.host, opened.ticket, about=UUID(document_id), now=now)
    if key is None:
        raise DependencyUnavailable(dependency=Documents.port_name)
    content = b"".join([chunk async for chunk in run.host.files.read(key)])
    ends = opened.destroy_at
    if ends is None and opened.document_class == files.PERSONAL:
        ends = now + files.PERSONAL_KEPT
    return Paper(content, opened.document_class, ends)


async def _fail(run: Run, pack_id: UUID, build: int, step: str) -> None:
    log.warning("bid.pack.build_failed", pack_id=str(pack_id), step=step)
    async with run.working() as work:
        await packs.fail(work, pack_id, build, step)
