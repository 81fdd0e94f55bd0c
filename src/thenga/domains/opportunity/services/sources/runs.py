"""Runs over a source: started once at a time, committed page by page, ended and told (OPP-3)."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity import public
from thenga.domains.opportunity.lifecycles import RunLifecycle
from thenga.domains.opportunity.services.sources import applying, health, slots
from thenga.domains.opportunity.services.sources.applying import Received
from thenga.domains.opportunity.services.sources.walking import (
    POLL_DAYS,
    Walk,
    windows_between,
)
from thenga.domains.opportunity.settings import FETCH, RUNS_KEPT_DAYS
from thenga.domains.opportunity.tables import Run, RunStatus, Source, SourceState, SourceStatus
from thenga.domains.opportunity.values.feeds import FeedAddress, FeedFailed, FeedTrouble
from thenga.kernel.db.configuration import value
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import Conflict, Problem, RuleViolated, extensions
from thenga.kernel.values.calendar import local_day

Mode = Literal["poll", "trail", "backfill", "probe", "upload"]
UNFINISHED = (RunStatus.QUEUED, RunStatus.RUNNING)
MOST_DAYS = 400
_WATCHED = timedelta(seconds=120)  # a step that was lost is made again after this
_FATAL = (FeedTrouble.SHAPE_CHANGED, FeedTrouble.REFUSED)

advance_run = job_stub("opportunity.advance_run", form=Form.QUEUED, key="{run_id}", as_system=True)
fetch_page = job_stub("opportunity.fetch_page", form=Form.OUTSIDE, key="{run_id}:{fence}")
apply_upload = job_stub("opportunity.apply_upload", form=Form.OUTSIDE, key="{run_id}")


class RunInProgress(Problem):
    """This source is already being read. Wait until `currentRun` has ended, or cancel it."""

    code, status, title = "opportunity-run-in-progress", 409, "A run is in progress"
    members = extensions(runId=(str, "ID of the run in progress."))


class WindowTooWide(Problem):
    """A run covers at most 400 days. Split the period into several runs."""

    code, status, title = "opportunity-window-too-wide", 422, "The period is too long"
    members = extensions(mostDays=(int, "Maximum days of a run."))


async def unfinished(read: Reader, source_id: UUID) -> Run | None:
    """The run of a source that has not ended."""
    statement = select(Run).where(Run.source_id == source_id, among(Run.status, UNFINISHED))
    return next(iter(await read.all(statement, limit=1)), None)


async def recent(read: Reader, source_id: UUID, *, limit: int = 10) -> list[Run]:
    """The latest runs of a source, newest first."""
    statement = select(Run).where(Run.source_id == source_id).order_by(Run.id.desc())
    return await read.all(statement, limit=limit)


async def start(
    work: Work,
    source: Source,
    mode: Mode,
    *,
    first: date | None = None,
    last: date | None = None,
    releases: list[dict[str, Any]] | None = None,
) -> Run:
    """Queue a run on a locked source; one at a time."""
    _check_mode(source, mode, releases)
    if (running := await unfinished(work, source.id)) is not None:
        raise RunInProgress(runId=str(running.id))
    walk = _walk(source, mode, local_day(work.now), first, last)
    run = Run(
        organization_id=source.organization_id,
        source_id=source.id,
        mode=mode,
        releases=releases,
        cursor=walk.to_row() if walk is not None else None,
        seen_keys=[],
        counts=dict.fromkeys(applying.COUNTS, 0),
        rejects=[],
        asked_by=work.actor.id if work.held_as != "system" else None,
        next_check_at=work.now + _WATCHED,
    )
    await work.add(run)
    work.enqueue(apply_upload if mode == "upload" else advance_run, run_id=run.id)
    return run


def _check_mode(source: Source, mode: Mode, releases: list[dict[str, Any]] | None) -> None:
    if source.status is SourceStatus.RETIRED:
        raise Conflict("This source is retired. Add a new one.")
    is_upload = source.kind == "ocds_upload"
    if source.kind == "manual":
        raise RuleViolated("A manual source has no runs. Capture tenders instead.", rule="OPP-3")
    if (mode == "upload") != is_upload:
        told = "Use `mode: upload` for sources of kind `ocds_upload`, and only for those."
        raise RuleViolated(told, rule="OPP-3")
    if is_upload != bool(releases):
        raise RuleViolated("Send `releases` with `mode: upload`, and only then.", rule="OPP-3")
    if mode not in ("probe", "upload") and source.status is not SourceStatus.ACTIVE:
        raise Conflict("Activate the source before you start a run.")


def _walk(
    source: Source, mode: Mode, today: date, first: date | None, last: date | None
) -> Walk | None:
    days = source.settings["windowDays"]
    match mode:
        case "upload":
            return None
        case "probe":
            return Walk(windows_between(today, today, days=1))
        case "poll":
            begin = today - timedelta(days=POLL_DAYS - 1)
            return Walk(windows_between(begin, today, days=POLL_DAYS))
        case "trail":
            begin = today - timedelta(days=max(source.settings["trailDays"], 1) - 1)
            return Walk(windows_between(begin, today, days=days))
    last = last or today
    if first is None or first > last:
        raise RuleViolated("Send `from`, and a `to` that is not before it.", rule="OPP-3")
    if (last - first).days >= MOST_DAYS:
        raise WindowTooWide(mostDays=MOST_DAYS)
    return Walk(windows_between(first, last, days=days))


async def advance(work: Work, run_id: UUID) -> None:
    """Take the host's slot and ask for the next page, or come back when the host is free."""
    run = await work.lock(Run, run_id)
    if run.status not in UNFINISHED:
        return
    source = await work.get(Source, run.source_id)
    free_at = await slots.take_slot(work, host_of(source), holder=run.id)
    if free_at is not None:
        wait = free_at - work.now_in(timedelta(0))
        run.next_check_at = work.now + wait
        work.enqueue(advance_run, run_id=run.id, after=run.next_check_at)
        await work.save(run)
        return
    _begin(work, run)
    run.fence += 1
    run.next_check_at = work.now + _WATCHED
    await work.save(run)
    work.enqueue(fetch_page, run_id=run.id, fence=run.fence)


def _begin(work: Work, run: Run) -> None:
    if run.status is RunStatus.QUEUED:
        RunLifecycle.start(run, at=work.now)
        run.started_at = work.now


def host_of(source: Source) -> str:
    """The host that a source is fetched from."""
    return urlsplit(source.address or "").netloc.lower()


def address_of(source: Source) -> FeedAddress:
    """Where and in which pages a source is asked."""
    return FeedAddress(source.address or "", source.settings["pageSize"])


def walk_of(run: Run) -> Walk:
    """Where a run is."""
    if run.cursor is None:
        raise LookupError(f"{run!r} does not walk")
    return Walk.of_row(run.cursor)


async def apply_page(
    work: Work,
    run_id: UUID,
    *,
    fence: int,
    page: Sequence[Received],
    has_next: bool,
    object_key: str | None,
) -> bool:
    """Write a page and the cursor behind it in one transaction; whether its bytes are needed.

    A worker that dies before this commits has changed nothing; the page is asked for again.
    """
    run, source, state = await _lock(work, run_id)
    if run.fence != fence or run.status is not RunStatus.RUNNING:
        return False
    run.requests += 1
    run.attempts = state.failures = 0
    if run.mode == "probe":
        source.probed_at = work.now
        await _finish(work, run, source, state)
        return False
    if applying.is_shape_changed(page):
        run.counts = run.counts | {"rejected": run.counts["rejected"] + len(page)}
        await _fail(work, run, source, state, FeedTrouble.SHAPE_CHANGED.value)
        return False
    is_needed = await applying.apply_records(work, run, source, page, object_key)
    run.pages += 1
    keys = [one.reading.source_key or "" for one in page]
    walk = walk_of(run).after(keys, has_next=has_next, page_size=source.settings["pageSize"])
    run.cursor = walk.to_row()
    state.cursor = {"mode": run.mode, "runId": str(run.id), **run.cursor}
    if walk.window is None:
        await _finish(work, run, source, state)
    else:
        interval = timedelta(milliseconds=(await value(work, FETCH)).min_interval_ms)
        run.next_check_at = work.now + interval
        work.enqueue(advance_run, run_id=run.id, after=run.next_check_at)
        await _save(work, run, source, state)
    return is_needed


async def apply_releases(
    work: Work, run_id: UUID, *, page: Sequence[Received], object_key: str
) -> bool:
    """Write the releases that were sent with a run; whether their bytes are needed."""
    run, source, state = await _lock(work, run_id)
    if run.status not in UNFINISHED:
        return False
    _begin(work, run)
    if applying.is_shape_changed(page):
        run.counts = run.counts | {"rejected": len(page)}
        await _fail(work, run, source, state, FeedTrouble.SHAPE_CHANGED.value)
        return False
    is_needed = await applying.apply_records(work, run, source, page, object_key)
    run.pages = 1
    await _finish(work, run, source, state)
    return is_needed


async def fail_upload(work: Work, run_id: UUID, *, failed: FeedFailed) -> None:
    """End an upload that could not be applied (OPP-50)."""
    run, source, state = await _lock(work, run_id)
    if run.status in UNFINISHED:
        _begin(work, run)
        await _fail(work, run, source, state, failed.trouble.value)


async def record_failure(work: Work, run_id: UUID, *, fence: int, failed: FeedFailed) -> None:
    """Wait and ask again; five failures in a row end the run and open the breaker (OPP-1)."""
    run, source, state = await _lock(work, run_id)
    if run.fence != fence or run.status is not RunStatus.RUNNING:
        return
    fetching = await value(work, FETCH)
    run.requests += 1
    run.attempts += 1
    state.failures += 1
    wait = slots.backoff(run.attempts, seed=str(run.id))
    if failed.retry_after is not None:
        wait = max(wait, failed.retry_after)
        _release_slot(work, run, source, after=failed.retry_after)
    if failed.trouble in _FATAL:
        await _fail(work, run, source, state, failed.trouble.value)
    elif run.attempts >= fetching.breaker_failures:
        state.breaker_until = work.now + timedelta(minutes=fetching.breaker_minutes)
        await _fail(work, run, source, state, failed.trouble.value)
    else:
        run.next_check_at = work.now + wait
        state.last_error = failed.trouble.value
        work.enqueue(advance_run, run_id=run.id, after=run.next_check_at)
        await _save(work, run, source, state)


async def cancel(work: Work, run: Run) -> None:
    """End a run where it is; what was applied stays."""
    held = await work.hold(run)
    if RunLifecycle.cancel(held, at=work.now):
        held.finished_at, held.next_check_at, held.releases = work.now, None, None
        await work.save(held)
        _publish_end(work, held)


async def _lock(work: Work, run_id: UUID) -> tuple[Run, Source, SourceState]:
    run = await work.get(Run, run_id)
    source = await work.lock(Source, run.source_id, beside=True)
    run = await work.lock(Run, run_id, beside=True)
    return run, source, await work.lock(SourceState, source.id, beside=True)


async def _save(work: Work, run: Run, source: Source, state: SourceState) -> None:
    await work.save(run)
    await work.save(state)
    await work.save(source)


async def _finish(work: Work, run: Run, source: Source, state: SourceState) -> None:
    in_part = run.counts["rejected"] + run.counts.get("conflicts", 0) > 0
    move = RunLifecycle.succeed_in_part if in_part else RunLifecycle.succeed
    move(run, at=work.now)
    if run.mode == "trail":
        state.trailed_on = work.now
    state.breaker_until = None
    await _end(work, run, source, state, error=None)


async def _fail(work: Work, run: Run, source: Source, state: SourceState, error: str) -> None:
    RunLifecycle.fail(run, at=work.now)
    run.error_code = error
    if source.next_check_at is not None and state.breaker_until is not None:
        source.next_check_at = max(source.next_check_at, state.breaker_until)
    await _end(work, run, source, state, error=error)


async def _end(
    work: Work, run: Run, source: Source, state: SourceState, *, error: str | None
) -> None:
    run.finished_at, run.next_check_at, run.releases = work.now, None, None
    if run.mode == "probe":
        source.last_run_at = work.now
        state.last_error = error
    else:
        await health.record_result(work, source, state, error=error)
    await _save(work, run, source, state)
    if run.mode != "upload":
        _release_slot(work, run, source, after=timedelta(seconds=1))
    _publish_end(work, run)


def _release_slot(work: Work, run: Run, source: Source, *, after: timedelta) -> None:
    free_at: datetime = work.now_in(timedelta(0)) + after
    work.enqueue(slots.release_slot, host=host_of(source), holder=run.id, free_at=free_at)


async def delete_old(work: Work) -> None:
    """Delete runs that ended long ago; what they brought stays."""
    days = await value(work, RUNS_KEPT_DAYS)
    kept = timedelta(days=days)
    await work.run("DELETE FROM opportunity.run WHERE finished_at < $1", work.now - kept)


def _publish_end(work: Work, run: Run) -> None:
    counts = dict(run.counts)
    counts["rejected"] += counts.pop("conflicts", 0)
    work.publish(
        public.SourceRunFinished(
            organization_id=run.organization_id,
            run_id=run.id,
            source_id=run.source_id,
            mode=run.mode,
            status=run.status.value,  # type: ignore[arg-type]  # an ended run has one of these
            counts=public.RunCounts(**counts),
            completeness=None,
            error_code=run.error_code,
        )
    )
