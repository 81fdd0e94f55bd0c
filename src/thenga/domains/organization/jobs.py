"""What time does in Organization."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.organization.services import assets, facts, health, offers
from thenga.domains.organization.tables import (
    Capability,
    CustomerStatement,
    Equipment,
    FactFreshness,
    FactSuggestion,
    FleetAsset,
    Health,
    Verification,
)
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.due import due, when_due
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("organization")
reseal_columns = reseals(jobs)


@when_due(jobs, Equipment, every=timedelta(seconds=10))
async def tell_expiry(work: Work, *, equipment_id: UUID) -> None:
    """A paper of a machine is near its end, or over."""
    await assets.publish_equipment_expiry(work, equipment_id)


@when_due(jobs, FleetAsset, every=timedelta(seconds=10))
async def tell_road_expiry(work: Work, *, fleet_asset_id: UUID) -> None:
    """A paper of a vehicle is near its end, or over."""
    await assets.publish_fleet_asset_expiry(work, fleet_asset_id)


@when_due(jobs, Capability, every=timedelta(minutes=10))
async def lapse_capability(work: Work, *, capability_id: UUID) -> None:
    """What proved a capability is over."""
    await offers.lapse_due(work, capability_id)


@when_due(jobs, CustomerStatement, every=timedelta(minutes=5))
async def activate_statement(work: Work, *, statement_id: UUID) -> None:
    """A change of the bank account has waited long enough (ORG-37)."""
    await facts.activate(work, statement_id)


@when_due(jobs, Verification, every=timedelta(minutes=10))
async def lapse_check(work: Work, *, verification_id: UUID) -> None:
    """A check is over."""
    await facts.lapse(work, verification_id)


@when_due(jobs, FactFreshness, every=timedelta(hours=1))
async def mark_stale_fact(work: Work, *, freshness_id: UUID) -> None:
    """Nobody has confirmed a fact for long."""
    await facts.mark_stale(work, freshness_id)


@when_due(jobs, FactSuggestion, every=timedelta(minutes=10))
async def expire_suggestion(work: Work, *, suggestion_id: UUID) -> None:
    """Nobody decided a suggestion in time."""
    await facts.expire_suggestion(work, suggestion_id)


@jobs.every(timedelta(seconds=10))
async def take_health_snapshots(work: Work) -> None:
    """Find companies that changed a minute ago, and at night everybody; a few at a time."""
    for organization_id, _ in await due(work, Health, limit=50):
        work.enqueue(take_health_snapshot, organization_id=organization_id)


@jobs.queued(key="health", priority=-10)
async def take_health_snapshot(work: Work) -> None:
    await health.take_snapshot(work)
