"""Equipment: machines and tools of an organization."""

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.lifecycles import EquipmentLifecycle
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import equipment
from thenga.domains.organization.services.expiries import ExpiryState, state_on
from thenga.domains.organization.tables import Equipment, EquipmentStatus
from thenga.kernel.calendar import local_day
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition
from thenga.kernel.fields import Day, text, whole
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.lifecycle import AllowedMove, Move

router = make_router("Organization / Equipment")

OrganizationId = Annotated[UUID, Path(alias="organizationId")]
EquipmentId = Annotated[UUID, Path(alias="equipmentId")]
Label = Annotated[str, text(1, 160)]
Short = Annotated[str, text(1, 80)]
Year = Annotated[int, whole(1950, 2100)]
Ownership = Literal["owned", "financed", "leased", "rented"]
Quantity = Annotated[int, whole(1, 100_000)]


class ExpiryBody(Body):
    kind: Literal["calibration", "load_test", "inspection", "insurance"]
    expires_on: Day


Expiries = Annotated[list[ExpiryBody], Field(max_length=10)]


class AddEquipment(Body):
    name: Label
    quantity: Quantity
    category: Short | None = None
    make: Short | None = None
    model: Short | None = None
    year: Year | None = None
    ownership: Ownership | None = None
    serial_number: Annotated[Short | None, Field(description="Once in an organization.")] = None
    expiries: Expiries = []


class ChangeEquipment(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    name: Label = "unchanged"
    quantity: Quantity = 1
    category: Short | None = None
    make: Short | None = None
    model: Short | None = None
    year: Year | None = None
    ownership: Ownership | None = None
    serial_number: Short | None = None
    expiries: Expiries = []


class ExpiryView(View):
    kind: str
    expires_on: date
    state: Annotated[ExpiryState, Field(description="`expiring` from 60 days before the day.")]

    @classmethod
    def of(cls, expiry: dict[str, str], now: datetime) -> "ExpiryView":
        expires_on = date.fromisoformat(expiry["expires_on"])
        state = state_on(expires_on, local_day(now))
        return cls(kind=expiry["kind"], expires_on=expires_on, state=state)


class EquipmentView(Stored):
    """A machine; `allowedMoves` says what may be done next."""

    organization_id: UUID
    name: str
    category: str | None
    make: str | None
    model: str | None
    year: int | None
    ownership: str | None
    quantity: int
    serial_number: str | None
    expiries: list[ExpiryView]
    status: EquipmentStatus
    next_expiry: date | None
    archived_at: datetime | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, item: Equipment, now: datetime) -> "EquipmentView":
        values = {**item.__dict__, "allowed_moves": EquipmentLifecycle.allowed(item, now)}
        if item.expiries:
            expiries = [ExpiryView.of(one, now) for one in item.expiries]
            # As it is today, also where the day that was written down has passed.
            ahead = [one.expires_on for one in expiries if one.state is not ExpiryState.EXPIRED]
            values |= {"expiries": expiries, "next_expiry": min(ahead, default=None)}
        return cls.shown(values)


@router.post(
    "/organizations/{organizationId}/equipment", status_code=201, responses=problems(Duplicate)
)
async def add_equipment(
    organization_id: OrganizationId,
    body: AddEquipment,
    work: Annotated[Work, writes(Permission.EQUIPMENT_CREATE)],
) -> EquipmentView:
    """Record a machine or tool. It starts `available`; its certificates are watched for you."""
    item = await equipment.add(work, fields=body.model_dump(mode="python") | _dates(body.expiries))
    return EquipmentView.of(item, work.now)


@router.get("/organizations/{organizationId}/equipment")
async def list_equipment(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.EQUIPMENT_READ)],
    page: Annotated[Paged, paged("createdAt", "name", "nextExpiry")],
    status: Annotated[EquipmentStatus | None, Query()] = None,
    category: Annotated[Short | None, Query()] = None,
    expires_before: Annotated[Day | None, Query(alias="expiresBefore")] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[EquipmentView]:
    """The machines of the organization, page by page."""
    found = await equipment.list_all(
        read,
        page,
        status=status,
        category=category,
        expires_before=expires_before,
        archived=archived,
    )
    now = read.now
    return PageOf[EquipmentView].of(found, lambda item: EquipmentView.of(item, now))


@router.get("/organizations/{organizationId}/equipment/{equipmentId}")
async def get_equipment(
    organization_id: OrganizationId,
    equipment_id: EquipmentId,
    read: Annotated[Reader, reads(Permission.EQUIPMENT_READ)],
) -> EquipmentView:
    """One machine, archived ones too."""
    item = await read.get(Equipment, equipment_id)
    return EquipmentView.of(item, read.now)


@router.patch(
    "/organizations/{organizationId}/equipment/{equipmentId}", responses=problems(Duplicate)
)
async def change_equipment(
    organization_id: OrganizationId,
    equipment_id: EquipmentId,
    body: ChangeEquipment,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Change the fields you name. Send `If-Match` so that nobody's change is lost."""
    fields = body.changes()
    if "expiries" in fields:
        fields |= _dates(body.expiries)
    item = await equipment.change(work, equipment_id, fields=fields)
    return EquipmentView.of(item, work.now)


@router.delete("/organizations/{organizationId}/equipment/{equipmentId}", status_code=204)
async def archive_equipment(
    organization_id: OrganizationId,
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_ARCHIVE)],
) -> Response:
    """Take a machine out of the lists. The record stays readable under its identifier."""
    await equipment.archive(work, equipment_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/assign",
    responses=problems(InvalidTransition),
)
async def assign_equipment(
    organization_id: OrganizationId,
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Put an available machine to work."""
    return await _moved(work, equipment_id, EquipmentLifecycle.assign)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/release",
    responses=problems(InvalidTransition),
)
async def release_equipment(
    organization_id: OrganizationId,
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
    organization_id: OrganizationId,
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Take an available machine in for maintenance."""
    return await _moved(work, equipment_id, EquipmentLifecycle.maintain)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/return",
    responses=problems(InvalidTransition),
)
async def return_equipment(
    organization_id: OrganizationId,
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Bring a machine back from maintenance."""
    return await _moved(work, equipment_id, EquipmentLifecycle.return_)


@router.post(
    "/organizations/{organizationId}/equipment/{equipmentId}/retire",
    responses=problems(InvalidTransition),
)
async def retire_equipment(
    organization_id: OrganizationId,
    equipment_id: EquipmentId,
    work: Annotated[Work, writes(Permission.EQUIPMENT_UPDATE)],
) -> EquipmentView:
    """Retire a machine for good; no move leads back."""
    return await _moved(work, equipment_id, EquipmentLifecycle.retire)


async def _moved(work: Work, equipment_id: UUID, move: Move) -> EquipmentView:
    item = await equipment.move(work, equipment_id, move)
    return EquipmentView.of(item, work.now)


def _dates(expiries: list[ExpiryBody]) -> dict[str, list[dict[str, str]]]:
    shown = [{"kind": one.kind, "expires_on": one.expires_on.isoformat()} for one in expiries]
    return {"expiries": shown}
