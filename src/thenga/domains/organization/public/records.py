"""What Organization tells of its records; each is told by version, and read through the API."""

from uuid import UUID

from thenga.kernel.declare.event import Event


class AddressChanged(
    Event, type="organization.AddressChanged.v1", subject="record_id", resource="address"
):
    """An address of the company was recorded, changed or archived."""

    organization_id: UUID
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]


class ContactChanged(
    Event, type="organization.ContactChanged.v1", subject="record_id", resource="contact"
):
    """Whom to reach at the company was recorded, changed, archived or erased."""

    organization_id: UUID
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]
    status: str


class DirectorChanged(
    Event, type="organization.DirectorChanged.v1", subject="record_id", resource="director"
):
    """Something of a director changed: the record, the status, a check, or a flag."""

    organization_id: UUID
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]
    flags_changed: list[str]
    status: str
    verification_status: str


class OrganizationUserChanged(
    Event,
    type="organization.OrganizationUserChanged.v1",
    subject="record_id",
    resource="organization_user",
):
    """What the company says of somebody who works in it was recorded, changed or ended."""

    organization_id: UUID
    record_id: UUID
    record_version: int
    change: str
    changed_fields: list[str]
    status: str


EVENTS = (AddressChanged, ContactChanged, DirectorChanged, OrganizationUserChanged)
