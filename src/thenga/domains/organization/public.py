"""What other domains may know of Organization: its events."""

from datetime import date, datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.events.event import Event


class OrganizationCreated(
    Event, type="organization.OrganizationCreated.v1", subject="organization_id"
):
    """A company is on the platform; whoever founded it becomes its first owner."""

    organization_id: UUID
    created_by_user_id: UUID
    organization_type: str
    mode: str
    status: str


class FactChange(BaseModel):
    """What happened to one fact; the value is read through the port, never carried."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    fact_key: str
    fact_version: int
    change: str


class ProfileFactChanged(
    Event, type="organization.ProfileFactChanged.v1", subject="organization_id"
):
    """Facts of the profile were stated or withdrawn, in one command."""

    organization_id: UUID
    changes: list[FactChange]


class EquipmentAdded(Event, type="organization.EquipmentAdded.v1", subject="equipment_id"):
    """A machine or tool was recorded."""

    organization_id: UUID
    equipment_id: UUID
    status: str


class EquipmentChanged(Event, type="organization.EquipmentChanged.v1", subject="equipment_id"):
    """Fields or the state of a machine changed."""

    organization_id: UUID
    equipment_id: UUID
    change: str
    changed_fields: list[str]
    status: str


class ExpiryApproaching(Event, type="organization.ExpiryApproaching.v1", subject="equipment_id"):
    """A certificate of a machine runs out in so many days; told once for each step."""

    organization_id: UUID
    equipment_id: UUID
    kind: str
    expires_on: date
    days_left: int
    due_at: datetime


class SandboxClockMoved(Event, type="organization.SandboxClockMoved.v1", subject="organization_id"):
    """A sandbox's clock was moved forward; every domain follows it."""

    organization_id: UUID
    ahead_seconds: int
    move_number: int


EVENTS = (
    OrganizationCreated,
    ProfileFactChanged,
    EquipmentAdded,
    EquipmentChanged,
    ExpiryApproaching,
    SandboxClockMoved,
)
