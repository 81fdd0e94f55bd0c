"""The health of a source: failing, late or well (OPP-9). What time makes is derived on read."""

from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.opportunity import public
from thenga.domains.opportunity.public.sources import Health
from thenga.domains.opportunity.tables import Source, SourceState, SourceStatus
from thenga.kernel.db.work import Work

FETCHED = frozenset({"etenders_ocds"})
_FAILED_RUNS = 5
_CADENCES = 3


def late_from(source: Source) -> datetime | None:
    """The moment up to which a success is in time; after it the source is late."""
    since = source.last_success_at or source.probed_at
    if since is None or source.kind not in FETCHED:
        return None
    return since + _CADENCES * timedelta(seconds=source.cadence_seconds)


def health_at(source: Source, now: datetime) -> tuple[Health, str | None]:
    """The health of a source at a moment, also before the job has looked."""
    if source.health == "failing":
        return "failing", source.health_reason
    bound = late_from(source)
    if source.status is SourceStatus.ACTIVE and bound is not None and now > bound:
        return "late", "no_success"
    if source.last_success_at is None:
        return "unknown", None
    return "ok", None


async def record_result(
    work: Work, source: Source, state: SourceState, *, error: str | None
) -> None:
    """Note how a run ended on a locked source and its locked state, and publish a new health."""
    source.last_run_at = work.now
    if error is None:
        source.last_success_at = work.now
        state.failed_runs, state.last_error = 0, None
        await _set(work, source, "ok", None)
    else:
        state.failed_runs, state.last_error = state.failed_runs + 1, error
        if error == "shape_changed" or state.failed_runs >= _FAILED_RUNS:
            await _set(work, source, "failing", error)
    state.next_check_at = _next_check(source)


async def check_health(work: Work, source_id: UUID) -> None:
    """Publish that a source is late, once its time has come."""
    source = await work.lock(Source, source_id)
    state = await work.lock(SourceState, source_id)
    health, reason = health_at(source, work.now)
    await _set(work, source, health, reason)
    await work.save(source)
    state.next_check_at = _next_check(source) if health in ("ok", "unknown") else None
    await work.save(state)


def _next_check(source: Source) -> datetime | None:
    bound = late_from(source)
    return None if bound is None else bound + timedelta(seconds=1)


async def _set(work: Work, source: Source, health: Health, reason: str | None) -> None:
    before: Health = source.health  # type: ignore[assignment]  # the column holds no other
    if before == health:
        return
    source.health, source.health_reason = health, reason
    await work.save(source)
    work.publish(
        public.SourceHealthChanged(
            organization_id=source.organization_id,
            source_id=source.id,
            from_health=before,
            to_health=health,
            reason=reason,
        )
    )
