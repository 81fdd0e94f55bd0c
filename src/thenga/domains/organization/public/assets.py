"""What Organization tells of machines and vehicles."""

from datetime import date, datetime
from uuid import UUID

from thenga.kernel.declare.event import Event


class EquipmentAdded(
    Event, type="organization.EquipmentAdded.v1", subject="record_id", resource="equipment"
):
    """A machine or tool was recorded."""

    organization_id: UUID
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]
    status: str


class EquipmentChanged(
    Event, type="organization.EquipmentChanged.v1", subject="record_id", resource="equipment"
):
    """Fields or the state of a machine changed."""

    organization_id: UUID
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]
    status: str


class FleetAssetChanged(
    Event, type="organization.FleetAssetChanged.v1", subject="record_id", resource="fleet_asset"
):
    """A vehicle was recorded, changed, moved or archived."""

    organization_id: UUID
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]
    status: str


class ExpiryApproaching(
    Event,
    type="organization.ExpiryApproaching.v1",
    subject="record_id",
    resource="record_type",
):
    """A paper of a machine or vehicle runs out in so many days; told once for each step.

    `days_left` is 0 on the last valid day, and -21 on the last day of grace of a vehicle licence.
    """

    organization_id: UUID
    record_type: str
    record_id: UUID
    kind: str
    on: date
    days_left: int
    due_at: datetime
    time_zone: str


EVENTS = (EquipmentAdded, EquipmentChanged, FleetAssetChanged, ExpiryApproaching)
