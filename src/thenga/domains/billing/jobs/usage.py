"""Jobs of entitlements and usage: expiry and retention."""

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
    """Store and publish entitlements that time has changed. Reads are correct before it."""
    await entitlements.refresh(work, reason="time_passed")


@when_due(jobs, Grant, every=timedelta(seconds=10))
async def lapse_grant(work: Work, *, grant_id: UUID) -> None:
    """Expire a grant."""
    await entitlements.expire_grant(work, grant_id)


@when_due(jobs, Reservation, every=timedelta(seconds=10))
async def release_reservation(work: Work, *, reservation_id: UUID) -> None:
    """Release a reservation that was not settled in time."""
    await usage.expire_reservation(work, reservation_id)


@jobs.every(timedelta(days=7))
async def find_old_usage(work: Work) -> None:
    """Find organizations with records older than 13 months, and compact each in its own job."""
    for organization_id in await usage.due_for_compaction(work, limit=1000):
        work.enqueue(usage.compact_usage, organization_id=organization_id)


@jobs.implements(usage.compact_usage)
async def compact_usage(work: Work) -> None:
    """Compact old records as the system login, which alone can delete them."""
    await usage.compact(work)


@jobs.every(timedelta(days=1))
async def forget_usage_days(work: Work) -> None:
    """Delete daily sums after five years."""
    await usage.delete_old_days(work)
