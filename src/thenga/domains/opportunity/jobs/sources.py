"""Jobs that read sources: polls, pages, uploads and health (OPP-1 to 9)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import orjson
import structlog
from sqlalchemy import select

from thenga.domains.billing.public import Usage, report_use
from thenga.domains.opportunity.adapters.feeds import Feeds
from thenga.domains.opportunity.jobs.declared import jobs
from thenga.domains.opportunity.services import sources
from thenga.domains.opportunity.tables import Run as SourceRun
from thenga.domains.opportunity.tables import RunStatus, Source, SourceState
from thenga.domains.opportunity.values.feeds import FeedFailed, FeedPage, FeedTrouble
from thenga.kernel.db.outages import may_pass
from thenga.kernel.db.work import Work
from thenga.kernel.events.inbox import AlreadyTaken
from thenga.kernel.jobs.due import due, when_due
from thenga.kernel.jobs.lease import LeaseLost
from thenga.kernel.jobs.run import Run
from thenga.kernel.ports.binding import Unbound

log = structlog.get_logger()
_BATCH = 500


@when_due(jobs, Source, every=timedelta(seconds=30))
async def poll_source(work: Work, *, source_id: UUID) -> None:
    """Begin the poll or the nightly trail of a source."""
    await sources.poll(work, source_id)


@when_due(jobs, SourceState, every=timedelta(minutes=1))
async def check_source_health(work: Work, *, source_id: UUID) -> None:
    """Publish that a source is late."""
    await sources.check_health(work, source_id)


@jobs.implements(sources.advance_run)
async def advance_run(work: Work, *, run_id: UUID) -> None:
    """Take the host's slot and ask for the next page."""
    await sources.advance(work, run_id)


jobs.moved[SourceRun] = (advance_run, "run_id")


@jobs.every(timedelta(seconds=30))
async def find_to_advance_run(work: Work) -> None:
    """Find runs whose next step is due, or was lost."""
    for organization_id, run_id in await due(work, SourceRun, limit=_BATCH):
        mode = await work.value(select(SourceRun.mode).where(SourceRun.id == run_id))
        job = sources.apply_upload if mode == "upload" else advance_run
        work.enqueue(job, organization_id=organization_id, run_id=run_id)


@jobs.every(timedelta(hours=6))
async def delete_old_runs(work: Work) -> None:
    """Delete runs that ended long ago."""
    await sources.delete_old(work)


@jobs.implements(sources.release_slot)
async def release_slot(work: Work, *, host: str, holder: UUID, free_at: datetime) -> None:
    """Let other runs ask the host."""
    await sources.give_slot_back(work, host, holder=holder, free_at=free_at)


@jobs.implements(sources.fetch_page)
async def fetch_page(run: Run, *, run_id: UUID, fence: int) -> None:
    """Ask for one page and apply it; nothing is held while the feed is waited for."""
    async with run.reading() as read:
        reading, now = await read.get(SourceRun, run_id), read.now
        source = await read.get(Source, reading.source_id)
    if reading.fence != fence or reading.status is not RunStatus.RUNNING:
        return
    try:
        answered = await _ask(run, reading, source)
        page = sources.read_page(answered.records, source, now)
        await _apply_page(run, reading, source, answered, page)
    except Exception as error:  # noqa: BLE001  # what may pass is raised again
        failed = _failure_of(error, run_id)
        async with run.working() as work:
            await sources.record_failure(work, run_id, fence=fence, failed=failed)


def _failure_of(error: Exception, run_id: UUID) -> FeedFailed:
    """How an error counts for the run (OPP-50); what may pass is raised, and the job repeated."""
    if isinstance(error, FeedFailed):
        return error
    if isinstance(error, (LeaseLost, AlreadyTaken)) or may_pass(error):
        raise error
    log.error("opportunity.run.interrupted", run_id=str(run_id), exc_info=error)
    return FeedFailed(FeedTrouble.INTERNAL_ERROR)


async def _apply_page(
    run: Run,
    reading: SourceRun,
    source: Source,
    answered: FeedPage,
    page: list[sources.Received],
) -> None:
    """Write a page; its bytes are kept only if a record was written that names them."""
    object_key = await _keep_new(run, source, answered, page)
    async with _kept_if_needed(run, object_key) as kept, run.working() as work:
        kept.is_needed = await sources.apply_page(
            work,
            reading.id,
            fence=reading.fence,
            page=page,
            has_next=answered.has_next,
            object_key=object_key,
        )


@dataclass
class _Kept:
    """Whether the bytes of a page are named by a record."""

    is_needed: bool = False


@asynccontextmanager
async def _kept_if_needed(run: Run, object_key: str | None) -> AsyncIterator[_Kept]:
    """Delete the bytes of a page that no record names, so that no poll adds another copy."""
    kept = _Kept()
    try:
        yield kept
    except Exception as error:
        if object_key is not None and not may_pass(error):  # else it may be committed
            await run.host.files.delete(object_key)
        raise
    if object_key is not None and not kept.is_needed:
        await run.host.files.delete(object_key)


async def _ask(run: Run, reading: SourceRun, source: Source) -> FeedPage:
    feed, walk = run.adapter(Feeds).of(source.kind), sources.walk_of(reading)
    window = walk.window
    if window is None:
        return FeedPage((), has_next=False)
    if reading.mode == "probe":
        await feed.probe(sources.address_of(source), window)
        return FeedPage((), has_next=False)
    return await feed.page(sources.address_of(source), window, walk.page)


async def _keep_new(
    run: Run, source: Source, answered: FeedPage, page: list[sources.Received]
) -> str | None:
    """Store the bytes of a page that says something new."""
    async with run.reading() as read:
        known = await sources.known_of(read, source, page)
    if all(one.reading.is_rejected or known.is_same(one.reading) for one in page):
        return None
    return await sources.keep_page(run.host.files, source.organization_id, answered.records)


@jobs.implements(sources.apply_upload)
async def apply_upload(run: Run, *, run_id: UUID) -> None:
    """Apply the releases that were sent with a run."""
    async with run.reading() as read:
        reading, now = await read.get(SourceRun, run_id), read.now
        source = await read.get(Source, reading.source_id)
    if reading.releases is None:
        return
    try:
        records = [orjson.dumps(release) for release in reading.releases]
        page = sources.read_page(records, source, now)
        object_key = await sources.keep_page(run.host.files, source.organization_id, records)
        async with _kept_if_needed(run, object_key) as kept, run.working() as work:
            kept.is_needed = await sources.apply_releases(
                work, run_id, page=page, object_key=object_key
            )
    except Exception as error:  # noqa: BLE001  # what may pass is raised again
        failed = _failure_of(error, run_id)
        async with run.working() as work:
            await sources.fail_upload(work, run_id, failed=failed)


@jobs.implements(sources.meter_source)
async def meter_source(run: Run, *, source_id: UUID, operation: str) -> None:
    """Tell Billing of a source that was added or retired; the key makes a repeat count once."""
    try:
        usage = run.port(Usage)
    except Unbound:
        return
    async with run.reading() as read:
        source = await read.get(Source, source_id)
    entry = sources.usage_of(source, operation)
    code = await report_use(usage, organization_id=source.organization_id, entry=entry)
    if code is not None:
        log.error("opportunity.usage.rejected", source_id=str(source_id), code=code)
