"""Plan migrations: holders of an old version move to a later one at a renewal, with notice (BIL-1).

The catalogue stores the migration on the old version, so no subscription changes before its own
renewal.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from thenga.domains.billing import settings
from thenga.domains.billing.services.plan_admin.versions import EffectiveTooEarly, offer_plan
from thenga.domains.billing.tables import PlanStatus, PlanVersion
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_day


@dataclass(frozen=True, slots=True)
class PlannedMigration:
    """The old version, the new version and the first day of the migration."""

    left: PlanVersion
    to_version: int
    apply_after: date


async def plan_migration(
    work: Work, plan_code: str, number: int, *, from_version: int, apply_after: date, reason: str
) -> PlannedMigration:
    """Migrate holders of an old version to this one, at their first renewal after a day."""
    if from_version >= number:
        raise RuleViolated(
            "Customers can only be moved to a later version. Choose one.", rule="later-version"
        )
    known = await work.lock_by(PlanVersion, plan_code=plan_code, plan_version=number)
    left = await work.lock_by(PlanVersion, plan_code=plan_code, plan_version=from_version)
    _check(known, left)
    _check_prices(known, left)
    await _check_notice(work, apply_after)
    left.migrates_to, left.migrates_after = number, apply_after
    if work.changes(left):
        await work.save(left)
        detail = {"reason": reason, "toVersion": number, "applyAfter": apply_after.isoformat()}
        work.note("billing.plan_version.migrate", ("plan_version", left.id), detail)
        work.enqueue(offer_plan, plan_version_id=left.id)
    return PlannedMigration(left, number, apply_after)


def _check(known: PlanVersion, left: PlanVersion) -> None:
    for version, needed in ((known, PlanStatus.ACTIVE), (left, PlanStatus.GRANDFATHERED)):
        if version.status is not needed:
            raise not_possible(
                f"Version {version.plan_version} is {version.status}. Move customers from a "
                f"version that is no longer sold to the active one.",
                status=version.status,
                operation="migrate",
                allowed=[],
            )


def _check_prices(known: PlanVersion, left: PlanVersion) -> None:
    """Check that every interval of the old version has a price. Only the system login can count who
    uses which."""
    priced = {one["interval"] for one in known.prices}
    missing = sorted({one["interval"] for one in left.prices} - priced)
    if missing:
        raise RuleViolated(
            f"Version {known.plan_version} has no price per {' or per '.join(missing)}, but "
            f"version {left.plan_version} was sold that way. Migrate to a version that has one.",
            rule="every-interval-has-a-price",
            missing=missing,
        )


async def _check_notice(read: Reader, apply_after: date) -> None:
    today = local_day(read.now)
    days = await configuration.value(read, settings.MIGRATION_NOTICE_DAYS)
    earliest = today + timedelta(days=days)
    if apply_after < earliest:
        raise EffectiveTooEarly(
            f"Customers get {days} days' notice. Set `applyAfter` to {earliest} or later.",
            earliest=earliest.isoformat(),
        )
