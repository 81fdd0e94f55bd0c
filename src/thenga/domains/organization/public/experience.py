"""What Organization tells of past projects and of the clients who confirm them."""

from uuid import UUID

from thenga.kernel.declare.event import Event


class PastProjectChanged(
    Event, type="organization.PastProjectChanged.v1", subject="record_id", resource="past_project"
):
    """A past project was recorded, changed, published, checked or archived."""

    organization_id: UUID
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]
    status: str
    verification_status: str


class ClientReferenceChanged(
    Event, type="organization.ClientReferenceChanged.v1", subject="client_reference_id"
):
    """A client reference was prepared, changed, withdrawn, erased or archived."""

    organization_id: UUID
    client_reference_id: UUID
    past_project_id: UUID
    change: str
    changed_fields: list[str]
    status: str
    strength: str | None


EVENTS = (PastProjectChanged, ClientReferenceChanged)
