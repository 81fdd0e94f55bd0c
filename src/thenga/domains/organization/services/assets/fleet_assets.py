"""Fleet assets: vehicles, and the papers that they need on the road (ORG-22)."""

import re
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, or_
from stdnum.util import clean

from thenga.domains.organization import public
from thenga.domains.organization.services import offers, records
from thenga.domains.organization.services.assets import expiries, expiry_watch
from thenga.domains.organization.services.assets.expiries import GRACE_DAYS, Expiry, ExpiryState
from thenga.domains.organization.tables import FleetAsset, FleetAssetStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import Problem
from thenga.kernel.values.calendar import local_day

SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "name": FleetAsset.name,
    "nextExpiry": expiry_watch.by_next_expiry(FleetAsset),
}
_ONCE = "A vehicle with this registration number is recorded already."
# ISO 3779: 17 characters without I, O and Q. Its check digit is used in North America only.
_VIN = re.compile("[A-HJ-NPR-Z0-9]{17}")
_PAPERS = ("licence", "roadworthy", "operating_licence", "insurance")


class VinInvalid(Problem):
    """A vehicle identification number has 17 letters and digits, without I, O and Q. Copy it from
    the licence disc or the registration certificate."""

    code, status, title = (
        "organization-vin-invalid",
        422,
        "This is no vehicle identification number",
    )


async def add_fleet_asset(work: Work, *, fields: dict[str, Any]) -> FleetAsset:
    """Record a vehicle."""
    vehicle = FleetAsset(organization_id=work.organization_id, **_normal(fields))
    with records.once(_ONCE, field="registrationNumber"):
        given = await expiry_watch.add(work, vehicle, fleet_asset_papers(vehicle))
    work.publish(public.FleetAssetChanged(**expiry_watch.told(vehicle, "added", given)))
    return vehicle


async def list_fleet_assets(
    read: Reader,
    paged: Paged,
    *,
    status: FleetAssetStatus | None,
    category: str | None,
    vehicle_type: str | None,
    expiry_state: ExpiryState | None,
    expires_before: date | None,
    archived: bool,
) -> Slice[FleetAsset]:
    """The vehicles of the organization."""
    statement = records.kept(FleetAsset, archived=archived)
    if status is not None:
        statement = statement.where(FleetAsset.status == status)
    if category is not None:
        statement = statement.where(FleetAsset.category == category)
    if vehicle_type is not None:
        statement = statement.where(FleetAsset.vehicle_type == vehicle_type)
    if expiry_state is not None:
        statement = statement.where(_in_state(expiry_state, local_day(read.now)))
    if expires_before is not None:
        statement = statement.where(FleetAsset.next_expiry < expires_before)
    return await read.page(statement, paged, SORTS[paged.sort])


async def change_fleet_asset(
    work: Work, fleet_asset_id: UUID, *, fields: dict[str, Any]
) -> FleetAsset:
    """Change the fields named; the rest stays."""
    vehicle = await work.lock(FleetAsset, fleet_asset_id)
    with records.once(_ONCE, field="registrationNumber"):
        changed = await expiry_watch.change(work, vehicle, _normal(fields), fleet_asset_papers)
    if changed:
        work.publish(public.FleetAssetChanged(**expiry_watch.told(vehicle, "updated", changed)))
    return vehicle


async def move_fleet_asset(work: Work, fleet_asset_id: UUID, move: Move) -> FleetAsset:
    """Make one of the declared moves; a vehicle that is there already stays untold."""
    vehicle = await work.lock(FleetAsset, fleet_asset_id)
    if move(vehicle, at=work.now):
        if move.to is FleetAssetStatus.RETIRED:
            vehicle.next_check_at = None
        changed = await records.save(work, vehicle)
        work.publish(public.FleetAssetChanged(**expiry_watch.told(vehicle, move.verb, changed)))
    return vehicle


async def archive_fleet_asset(work: Work, fleet_asset_id: UUID) -> None:
    """Take it out of the lists; the record stays readable."""
    vehicle = await work.lock(FleetAsset, fleet_asset_id)
    changed = await expiry_watch.archive(work, vehicle)
    if changed:
        work.publish(public.FleetAssetChanged(**expiry_watch.told(vehicle, "archived", changed)))
        await offers.recheck_capabilities(work, [vehicle.id])


async def publish_fleet_asset_expiry(work: Work, fleet_asset_id: UUID) -> None:
    """Tell what is due of a vehicle's papers."""
    vehicle = await work.lock(FleetAsset, fleet_asset_id)
    await expiry_watch.tell_due(work, vehicle, fleet_asset_papers(vehicle))


def fleet_asset_papers(vehicle: FleetAsset) -> list[Expiry]:
    """The papers of a vehicle that run out."""
    days = ((kind, getattr(vehicle, f"{kind}_expires_on")) for kind in _PAPERS)
    return [Expiry(kind, on) for kind, on in days if on is not None]


def _normal(fields: dict[str, Any]) -> dict[str, Any]:
    """Plate and chassis number in the one form in which they are stored and compared."""
    made = dict(fields)
    if "registration_number" in made:
        made["registration_number"] = clean(made["registration_number"], " ").upper()
    if made.get("vin") is not None:
        made["vin"] = clean(made["vin"], " -").upper()
        if _VIN.fullmatch(made["vin"]) is None:
            raise VinInvalid()
    return made


def _in_state(state: ExpiryState, today: date) -> ColumnElement[bool]:
    """Whether one of the papers is in that state today."""
    columns = {kind: FleetAsset.__table__.c[f"{kind}_expires_on"] for kind in _PAPERS}
    if state is ExpiryState.NOT_GIVEN:
        return or_(*(column.is_(None) for column in columns.values()))
    return or_(
        *(
            column.between(*expiries.days_in(state, today, GRACE_DAYS.get(kind, 0)))
            for kind, column in columns.items()
        )
    )
