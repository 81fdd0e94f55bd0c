"""Equipment: machines and tools of an organization."""

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.records import (
    RecordView,
    ReferenceBody,
    ReferenceView,
    VersionNumber,
    VersionView,
    given,
    shown,
    stored,
)
from thenga.domains.organization.lifecycles import EquipmentLifecycle
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import assets, records
from thenga.domains.organization.services.assets import Expiry, ExpiryState, next_expiry, state_on
from thenga.domains.organization.tables import Equipment, EquipmentStatus
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
from thenga.kernel.values.fields import Day, text, whole

router = make_router("Organization / Equipment")

EquipmentId = Annotated[UUID, Path(alias="equipmentId")]
Label = Annotated[str, text(1, 160)]
Short = Annotated[str, text(1, 80)]
Year = Annotated[int, whole(1950, 2100)]
Ownership = Literal["owned", "financed", "leased", "rented"]
Quantity = Annotated[int, whole(1, 100_000)]
Documents = Annotated[
    list[ReferenceBody], Field(max_length=20, description="Documents in Compliance.")
]


class ExpiryBody(Body):
    """Expiry date of a certificate."""

    kind: Literal["calibration", "load_test", "inspection", "insurance"]
    expires_on: Day


Expiries = Annotated[list[ExpiryBody], Field(max_length=10)]


class AddEquipment(Body):
    """Machine or tool to add."""

    name: Label
    quantity: Quantity
    category: Short | None = None
    make: Short | None = None
    model: Short | None = None
    year: Annotated[Year | None, Field(description="Year of manufacture, at most next year.")] = (
        None
    )
    ownership: Ownership | None = None
    location_address_id: Annotated[
        UUID | None, Field(description="Address of this organization at which it is kept.")
    ] = None
    document_refs: Documents = []
    serial_number: Annotated[
        Short | None, Field(description="Serial number, unique within the organization.")
    ] = None
    expiries: Expiries = []


class ChangeEquipment(Body):
    """Fields to update. Omitted fields stay unchanged; null clears optional fields."""

    name: Label = "unchanged"
    quantity: Quantity = 1
    category: Short | None = None
    make: Short | None = None
    model: Short | None = None
    year: Year | None = None
    ownership: Ownership | None = None
    location_address_id: UUID | None = None
    document_refs: Documents = []
    serial_number: Short | None = None
    expiries: Expiries = []


class ExpiryView(View):
    """Expiry date of a certificate."""

    kind: str
    expires_on: date
    state: Annotated[
        ExpiryState,
        Field(description="State today. `expiring` starts 60 days before the last day."),
    ]

    @classmethod
    def of(cls, expiry: dict[str, str], now: datetime) -> "ExpiryView":
        paper = Expiry(expiry["kind"], date.fromisoformat(expiry["expires_on"]))
        return cls(kind=paper.kind, expires_on=paper.on, state=state_on(paper, local_day(now)))


class PapersView(View):
    """State of each kind of certificate. If there are several, the one that expires first."""

    calibration: ExpiryState = ExpiryState.NOT_GIVEN
    load_test: ExpiryState = ExpiryState.NOT_GIVEN
    inspection: ExpiryState = ExpiryState.NOT_GIVEN
    insurance: ExpiryState = ExpiryState.NOT_GIVEN


# Most machines have none; written once, it costs a page nothing.
_NO_PAPERS = PapersView().model_dump(mode="json", by_alias=True)


class EquipmentView(RecordView):
    """A machine or tool. `allowedMoves` lists what can be done next."""

    name: str
    category: str | None
    make: str | None
    model: str | None
    year: int | None
    ownership: str | None
    location_address_id: UUID | None
    document_refs: list[ReferenceView]
    quantity: int
    serial_number: str | None
    expiries: list[ExpiryView]
    expiry_state: PapersView
    status: EquipmentStatus
    next_expiry: date | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, item: Equipment, now: datetime) -> "EquipmentView":
        values = shown(item)
        values["allowed_moves"] = EquipmentLifecycle.allowed(item, now)
        values["expiry_state"] = _NO_PAPERS
        if item.expiries:
            papers, today = assets.equipment_papers(item), local_day(now)
            values |= {
                "expiries": [ExpiryView.of(one, now) for one in item.expiries],
                "expiry_state": PapersView(**assets.soonest_expiry(today, papers)),
                # As it is today, also where the day that was written down has passed.
                "next_expiry": next_expiry(papers, today),
            }
        return cls.shown(values)


@router.post(
    "/organizations/{organizationId}/equipment",
    status_code=201,
    responses=problems(Duplicate, RuleViolated),
)
async def add_equipment(
    body: AddEquipment,
    work: Annotated[Work, writes(Permission.EQUIPMENT_CREATE)],
) -> EquipmentView:
    """Add a machine or tool. It starts as `available`; its certificates are monitored."""
    item = await assets.add_equipment(work, fields=given(body))
    return EquipmentView.of(item, work.now)


@router.get("/organizations/{organizationId}/equipment")
async def list_equipment(
    read: Annotated[Reader, reads(Permission.EQUIPMENT_READ)],
    page: Annotated[Paged, paged("createdAt", "name", "nextExpiry")],
    status: Annotated[EquipmentStatus | None, Query()] = None,
    category: Annotated[Short | None, Query()] = None,
    expiry_state: Annotated[
        ExpiryState | None,
        Query(alias="expiryState", description="Filter by the state of any certificate today."),
    ] = None,
    expires_before: Annotated[Day | None, Query(alias="expiresBefore")] = None,
    archived: Annotated[bool, Query(description="Show archived items instead.")] = False,
) -> PageOf[EquipmentView]:
    """List the equipment of the organization."""
    found = await assets.list_equipment(
        read,
        page,
        status=status,
        category=category,
        expiry_state=expiry_state,
        expires_before=expires_before,
        archived=archived,
    )
    now = read.now
    return PageOf[EquipmentView].of(found, lambda item: EquipmentView.of(item, now))


@router.get("/organizations/{organizationId}/equipment/{equipmentId}")
async def get_equipment(
    equipment_id: EquipmentId,
    read: Annotated[Reader, reads(Permission.EQUIPMENT_READ)],
) -> EquipmentView:
    """Retrieve a machine, also if archived."""
    item = await read.get(Equipment, equipment_id)
    return EquipmentView.of(item, read.now)


@router.get("/organizations/{organizationId}/equipment/{equipmentId}/versions")
async def list_equipment_versions(
    equipment_id: EquipmentId,
    read: Annotated[Reader, reads(Permission.EQUIPMENT_READ)],
    page: Annotated[Paged, paged("version", default="-version")],
) -> PageOf[VersionView]:
    """List the versions of a machine and who changed it."""
    found = await records.versions(read, Equipment, equipment_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/equipment/{equipmentId}/versions/{version}")
async def get_equipment_version(
    equipment_id: EquipmentId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.EQUIPMENT_READ)],
) -> VersionView:
    """Retrieve one version. It never changes, so it can be cited."""
    return VersionView.of(await records.version(read, Equipment, equipment_id, version))


@router.patch(
    "/organizations/{organizationId}/equipment/{equipmentId}",
    responses=problems(Duplicate, RuleViolated),
)
async def change_equipment(
    equipment_id: EquipmentId,
    body: ChangeEquipment,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Update the fields you send. Use `If-Match` to avoid overwriting another change."""
    item = await assets.change_equipment(work, equipment_id, fields=stored(body.changes()))
    return EquipmentView.of(item, work.now)


@router.delete("/organizations/{organizationId}/equipment/{equipmentId}", status_code=204)
async def archive_equipment(
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_ARCHIVE)],
) -> Response:
    """Archive a machine. The record stays readable by its ID."""
    await assets.archive_equipment(work, equipment_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/assign",
    responses=problems(InvalidTransition),
)
async def assign_equipment(
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Mark an available machine as in use."""
    return await _moved(work, equipment_id, EquipmentLifecycle.assign)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/release",
    responses=problems(InvalidTransition),
)
async def release_equipment(
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Make a machine in use available again."""
    return await _moved(work, equipment_id, EquipmentLifecycle.release)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/maintain",
    responses=problems(InvalidTransition),
)
async def maintain_equipment(
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Send an available machine to maintenance."""
    return await _moved(work, equipment_id, EquipmentLifecycle.maintain)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/return",
    responses=problems(InvalidTransition),
)
async def return_equipment(
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Return a machine from maintenance."""
    return await _moved(work, equipment_id, EquipmentLifecycle.return_)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/retire",
    responses=problems(InvalidTransition),
)
async def retire_equipment(
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Retire a machine permanently. This cannot be undone."""
    return await _moved(work, equipment_id, EquipmentLifecycle.retire)


async def _moved(work: Work, equipment_id: UUID, move: Move) -> EquipmentView:
    item = await assets.move_equipment(work, equipment_id, move)
    return EquipmentView.of(item, work.now)
