"""Entitlements and usage: what expires, and how long records are kept."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.billing.jobs.declared import jobs
from thenga.domains.billing.services import (
    entitlements,
    usage,
)
from thenga.domains.billing.tables import (
    EntitlementSet,
    Grant,
    Reservation,
)
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, EntitlementSet, every=timedelta(seconds=10))
async def follow_entitlements(work: Work, *, entitlement_set_id: UUID) -> None:
    """A set is right at every read; this writes down and tells what time has made of it."""
    await entitlements.refresh(work, reason="time_passed")


@when_due(jobs, Grant, every=timedelta(seconds=10))
async def lapse_grant(work: Work, *, grant_id: UUID) -> None:
    """Goodwill ends by itself."""
    await entitlements.expire_grant(work, grant_id)


@when_due(jobs, Reservation, every=timedelta(seconds=10))
async def release_reservation(work: Work, *, reservation_id: UUID) -> None:
    """What nobody settled in time is free again."""
    await usage.expire_reservation(work, reservation_id)


@jobs.every(timedelta(days=7))
async def find_old_usage(work: Work) -> None:
    """Records are kept for 13 months; each organization's are folded in a job of its own."""
    for organization_id in await usage.due_for_compaction(work, limit=1000):
        work.enqueue(usage.compact_usage, organization_id=organization_id)


@jobs.implements(usage.compact_usage)
async def compact_usage(work: Work) -> None:
    """Nobody else may take a record away, so the system login does it."""
    await usage.compact(work)


@jobs.every(timedelta(days=1))
async def forget_usage_days(work: Work) -> None:
    """Daily sums are kept for five years."""
    await usage.delete_old_days(work)
