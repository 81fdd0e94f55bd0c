"""What Organization tells of services, products and capabilities."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event


class OfferingChanged(
    Event, type="organization.OfferingChanged.v1", subject="record_id", resource="record_type"
):
    """A service or product was recorded, changed, activated, discontinued or archived."""

    organization_id: UUID
    record_type: str
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]
    status: str


class Classified(BaseModel):
    """One code of a scheme."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    scheme: str
    code: str


class CapabilityClaimed(Event, type="organization.CapabilityClaimed.v1", subject="capability_id"):
    """A company says that it can do something; nobody has looked at it yet."""

    organization_id: UUID
    capability_id: UUID
    verification_status: str
    classifications: list[Classified]
    cidb_designation: str | None
    verified_until: datetime | None


class CapabilityChanged(Event, type="organization.CapabilityChanged.v1", subject="capability_id"):
    """What is claimed, its evidence or its review changed."""

    organization_id: UUID
    capability_id: UUID
    change: str
    changed_fields: list[str]
    status: str
    verification_status: str
    classifications: list[Classified]
    cidb_designation: str | None
    verified_until: datetime | None


class CapabilityVerified(Event, type="organization.CapabilityVerified.v1", subject="capability_id"):
    """Somebody who may has looked at the evidence and found the claim proven, until a day."""

    organization_id: UUID
    capability_id: UUID
    verification_status: str
    classifications: list[Classified]
    cidb_designation: str | None
    verified_until: datetime | None


class CapabilityLapsed(Event, type="organization.CapabilityLapsed.v1", subject="capability_id"):
    """A proven capability is proven no more: its last evidence is gone, or its time is over."""

    organization_id: UUID
    capability_id: UUID
    verification_status: str
    classifications: list[Classified]
    cidb_designation: str | None
    verified_until: datetime | None


EVENTS = (
    OfferingChanged,
    CapabilityClaimed,
    CapabilityChanged,
    CapabilityVerified,
    CapabilityLapsed,
)
