"""Fleet assets: vehicles of an organization."""

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.records import (
    OrganizationId,
    RecordView,
    ReferenceBody,
    ReferenceView,
    VersionNumber,
    VersionView,
    given,
    shown,
    stored,
)
from thenga.domains.organization.lifecycles import FleetAssetLifecycle
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import assets, records
from thenga.domains.organization.services.assets import ExpiryState, VinInvalid, next_expiry
from thenga.domains.organization.tables import FleetAsset, FleetAssetStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, Move
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, matching, text, whole

router = make_router("Organization / Fleet assets")

FleetAssetId = Annotated[UUID, Path(alias="fleetAssetId")]
Label = Annotated[str, text(1, 160)]
Short = Annotated[str, text(1, 80)]
Year = Annotated[int, whole(1950, 2100)]
Ownership = Literal["owned", "financed", "leased", "rented"]
Plate = Annotated[str, matching("^[A-Za-z0-9](?:[ -]?[A-Za-z0-9]){1,11}$", 23)]
Vin = Annotated[str, text(1, 40)]
Payload = Annotated[int, whole(0, 200_000)]
Seats = Annotated[int, whole(1, 300)]
Documents = Annotated[
    list[ReferenceBody], Field(max_length=20, description="Papers of it, kept by Compliance.")
]


class AddFleetAsset(Body):
    name: Label
    registration_number: Annotated[
        Plate,
        Field(description="Kept in capitals and without blanks; once among those in service."),
    ]
    licence_expires_on: Annotated[Day, Field(description="The last day on the licence disc.")]
    category: Short | None = None
    make: Short | None = None
    model: Short | None = None
    year: Annotated[Year | None, Field(description="Of make; at most next year.")] = None
    ownership: Ownership | None = None
    location_address_id: Annotated[
        UUID | None, Field(description="Where it stands: an address of this organization.")
    ] = None
    document_refs: Documents = []
    vin: Annotated[Vin | None, Field(description="17 letters and digits, without I, O and Q.")] = (
        None
    )
    vehicle_type: Short | None = None
    payload_kg: Payload | None = None
    seats: Seats | None = None
    roadworthy_expires_on: Day | None = None
    operating_licence_expires_on: Day | None = None
    insurance_expires_on: Day | None = None


class ChangeFleetAsset(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    name: Label = "unchanged"
    registration_number: Plate = "UNCHANGED"
    licence_expires_on: Day = date(2000, 1, 1)
    category: Short | None = None
    make: Short | None = None
    model: Short | None = None
    year: Year | None = None
    ownership: Ownership | None = None
    location_address_id: UUID | None = None
    document_refs: Documents = []
    vin: Vin | None = None
    vehicle_type: Short | None = None
    payload_kg: Payload | None = None
    seats: Seats | None = None
    roadworthy_expires_on: Day | None = None
    operating_licence_expires_on: Day | None = None
    insurance_expires_on: Day | None = None


class RoadPapersView(View):
    """The state of each paper today; in grace it is not valid wherever proof is asked."""

    licence: ExpiryState = ExpiryState.NOT_GIVEN
    roadworthy: ExpiryState = ExpiryState.NOT_GIVEN
    operating_licence: ExpiryState = ExpiryState.NOT_GIVEN
    insurance: ExpiryState = ExpiryState.NOT_GIVEN


class FleetAssetView(RecordView):
    """A vehicle; `allowedMoves` says what may be done next."""

    name: str
    registration_number: str
    vin: str | None
    vehicle_type: str | None
    category: str | None
    make: str | None
    model: str | None
    year: int | None
    ownership: str | None
    location_address_id: UUID | None
    document_refs: list[ReferenceView]
    payload_kg: int | None
    seats: int | None
    licence_expires_on: date
    roadworthy_expires_on: date | None
    operating_licence_expires_on: date | None
    insurance_expires_on: date | None
    expiry_state: RoadPapersView
    status: FleetAssetStatus
    next_expiry: date | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, vehicle: FleetAsset, now: datetime) -> "FleetAssetView":
        papers, today = assets.fleet_asset_papers(vehicle), local_day(now)
        return cls.shown(
            {
                **shown(vehicle),
                "expiry_state": RoadPapersView(**assets.soonest_expiry(today, papers)),
                # As it is today, also where the day that was written down has passed.
                "next_expiry": next_expiry(papers, today),
                "allowed_moves": FleetAssetLifecycle.allowed(vehicle, now),
            }
        )


@router.post(
    "/organizations/{organizationId}/fleet-assets",
    status_code=201,
    responses=problems(Duplicate, VinInvalid, RuleViolated),
)
async def add_fleet_asset(
    organization_id: OrganizationId,
    body: AddFleetAsset,
    work: Annotated[Work, writes(Permission.FLEET_ASSET_CREATE)],
) -> FleetAssetView:
    """Record a vehicle. It starts `available`; its papers are watched for you."""
    vehicle = await assets.add_fleet_asset(work, fields=given(body))
    return FleetAssetView.of(vehicle, work.now)


@router.get("/organizations/{organizationId}/fleet-assets")
async def list_fleet_assets(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.FLEET_ASSET_READ)],
    page: Annotated[Paged, paged("createdAt", "name", "nextExpiry")],
    status: Annotated[FleetAssetStatus | None, Query()] = None,
    category: Annotated[Short | None, Query()] = None,
    vehicle_type: Annotated[Short | None, Query(alias="vehicleType")] = None,
    expiry_state: Annotated[
        ExpiryState | None,
        Query(alias="expiryState", description="One of its papers is in this state today."),
    ] = None,
    expires_before: Annotated[Day | None, Query(alias="expiresBefore")] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[FleetAssetView]:
    """The vehicles of the organization, page by page."""
    found = await assets.list_fleet_assets(
        read,
        page,
        status=status,
        category=category,
        vehicle_type=vehicle_type,
        expiry_state=expiry_state,
        expires_before=expires_before,
        archived=archived,
    )
    now = read.now
    return PageOf[FleetAssetView].of(found, lambda vehicle: FleetAssetView.of(vehicle, now))


@router.get("/organizations/{organizationId}/fleet-assets/{fleetAssetId}")
async def get_fleet_asset(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    read: Annotated[Reader, reads(Permission.FLEET_ASSET_READ)],
) -> FleetAssetView:
    """One vehicle, archived ones too."""
    vehicle = await read.get(FleetAsset, fleet_asset_id)
    return FleetAssetView.of(vehicle, read.now)


@router.get("/organizations/{organizationId}/fleet-assets/{fleetAssetId}/versions")
async def list_fleet_asset_versions(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    read: Annotated[Reader, reads(Permission.FLEET_ASSET_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What the vehicle's record said after each change, and who changed it."""
    found = await records.versions(read, FleetAsset, fleet_asset_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/fleet-assets/{fleetAssetId}/versions/{version}")
async def get_fleet_asset_version(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.FLEET_ASSET_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    return VersionView.of(await records.version(read, FleetAsset, fleet_asset_id, version))


@router.patch(
    "/organizations/{organizationId}/fleet-assets/{fleetAssetId}",
    responses=problems(Duplicate, VinInvalid, RuleViolated),
)
async def change_fleet_asset(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    body: ChangeFleetAsset,
    work: Annotated[Work, writes(Permission.FLEET_ASSET_UPDATE)],
) -> FleetAssetView:
    """Change the fields you name. Send `If-Match` so that nobody's change is lost."""
    vehicle = await assets.change_fleet_asset(work, fleet_asset_id, fields=stored(body.changes()))
    return FleetAssetView.of(vehicle, work.now)


@router.delete("/organizations/{organizationId}/fleet-assets/{fleetAssetId}", status_code=204)
async def archive_fleet_asset(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    work: Annotated[Work, writes(Permission.FLEET_ASSET_ARCHIVE)],
) -> Response:
    """Take a vehicle out of the lists. The record stays readable under its identifier."""
    await assets.archive_fleet_asset(work, fleet_asset_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/fleet-assets/{fleetAssetId}/assign",
    responses=problems(InvalidTransition),
)
async def assign_fleet_asset(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    work: Annotated[Work, writes(Permission.FLEET_ASSET_UPDATE)],
) -> FleetAssetView:
    """Put an available vehicle to work."""
    return await _moved(work, fleet_asset_id, FleetAssetLifecycle.assign)


@router.post(
    "/organizations/{organizationId}/fleet-assets/{fleetAssetId}/release",
    responses=problems(InvalidTransition),
)
async def release_fleet_asset(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    work: Annotated[Work, writes(Permission.FLEET_ASSET_UPDATE)],
) -> FleetAssetView:
    """Make a vehicle in use available again."""
    return await _moved(work, fleet_asset_id, FleetAssetLifecycle.release)


@router.post(
    "/organizations/{organizationId}/fleet-assets/{fleetAssetId}/maintain",
    responses=problems(InvalidTransition),
)
async def maintain_fleet_asset(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    work: Annotated[Work, writes(Permission.FLEET_ASSET_UPDATE)],
) -> FleetAssetView:
    """Take an available vehicle in for maintenance."""
    return await _moved(work, fleet_asset_id, FleetAssetLifecycle.maintain)


@router.post(
    "/organizations/{organizationId}/fleet-assets/{fleetAssetId}/return",
    responses=problems(InvalidTransition),
)
async def return_fleet_asset(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    work: Annotated[Work, writes(Permission.FLEET_ASSET_UPDATE)],
) -> FleetAssetView:
    """Bring a vehicle back from maintenance."""
    return await _moved(work, fleet_asset_id, FleetAssetLifecycle.return_)


@router.post(
    "/organizations/{organizationId}/fleet-assets/{fleetAssetId}/retire",
    responses=problems(InvalidTransition),
)
async def retire_fleet_asset(
    organization_id: OrganizationId,
    fleet_asset_id: FleetAssetId,
    work: Annotated[Work, writes(Permission.FLEET_ASSET_UPDATE)],
) -> FleetAssetView:
    """Retire a vehicle for good; no move leads back."""
    return await _moved(work, fleet_asset_id, FleetAssetLifecycle.retire)


async def _moved(work: Work, fleet_asset_id: UUID, move: Move) -> FleetAssetView:
    vehicle = await assets.move_fleet_asset(work, fleet_asset_id, move)
    return FleetAssetView.of(vehicle, work.now)
