"""What other domains may know of Learning: the events that they already react to."""

from datetime import date
from uuid import UUID

from thenga.kernel.declare.event import Event


class CertificateIssued(Event, type="learning.CertificateIssued.v1", subject="certificate_id"):
    """Somebody has earned a certificate; `organization_id` is the company it is shared with."""

    organization_id: UUID | None = None
    certificate_id: UUID
    user_id: UUID
    valid_until: date | None = None


class CertificateRevoked(Event, type="learning.CertificateRevoked.v1", subject="certificate_id"):
    """A certificate is no longer valid."""

    organization_id: UUID | None = None
    certificate_id: UUID
    user_id: UUID
    code: str


EVENTS = (CertificateIssued, CertificateRevoked)
