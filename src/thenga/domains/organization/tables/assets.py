"""What the company can put to work: machines, tools, vehicles."""

from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.organization.tables.records import Record
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, col, status

Reference = dict[str, str]  # `domain`, `type` and `id` of something, here or elsewhere


class EquipmentStatus(StrEnum):
    """Status of a machine."""

    AVAILABLE = "available"
    IN_USE = "in_use"
    MAINTENANCE = "maintenance"
    RETIRED = "retired"


class FleetAssetStatus(StrEnum):
    """Status of a vehicle."""

    AVAILABLE = "available"
    IN_USE = "in_use"
    MAINTENANCE = "maintenance"
    RETIRED = "retired"


class Asset(Record):
    """What machines and vehicles have in common; time moves both, by `next_check_at`."""

    unseen = frozenset({"next_expiry", "next_check_at"})

    name: Col[str] = col(sa.Text)
    category: Col[str | None] = col(sa.Text, nullable=True, default=None)
    make: Col[str | None] = col(sa.Text, nullable=True, default=None)
    model: Col[str | None] = col(sa.Text, nullable=True, default=None)
    year: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    ownership: Col[str | None] = col(sa.Text, nullable=True, default=None)
    location_address_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    document_refs: Col[list[Reference]] = col(pg.JSONB, default=[])
    next_expiry: Col[date | None] = col(sa.Date, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Equipment(Asset, table="organization.equipment", kind=Kind.PRIVATE):
    """A machine or tool that the company can put to work."""

    quantity: Col[int] = col(sa.Integer)
    serial_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    expiries: Col[list[dict[str, str]]] = col(pg.JSONB)
    status: Col[EquipmentStatus] = status(EquipmentStatus, default=EquipmentStatus.AVAILABLE)


class FleetAsset(Asset, table="organization.fleet_asset", kind=Kind.PRIVATE):
    """A vehicle, with the papers that it needs on the road."""

    registration_number: Col[str] = col(sa.Text)
    vin: Col[str | None] = col(sa.Text, nullable=True, default=None)
    vehicle_type: Col[str | None] = col(sa.Text, nullable=True, default=None)
    payload_kg: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    seats: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    licence_expires_on: Col[date] = col(sa.Date)
    roadworthy_expires_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    operating_licence_expires_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    insurance_expires_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    status: Col[FleetAssetStatus] = status(FleetAssetStatus, default=FleetAssetStatus.AVAILABLE)
