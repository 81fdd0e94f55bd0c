"""What other domains may know of Compliance: the events that they react to, and one port."""

from thenga.domains.compliance.public import evidence, readiness
from thenga.domains.compliance.public.evidence import (
    DocumentExpired,
    DocumentUploaded,
    EvidenceLinked,
    EvidenceVerified,
    Proof,
    VerificationFailed,
)
from thenga.domains.compliance.public.readiness import (
    Readiness,
    ReadinessChanged,
    ReadinessView,
)

EVENTS = (*evidence.EVENTS, *readiness.EVENTS)

__all__ = [
    "EVENTS",
    "DocumentExpired",
    "DocumentUploaded",
    "EvidenceLinked",
    "EvidenceVerified",
    "Proof",
    "Readiness",
    "ReadinessChanged",
    "ReadinessView",
    "VerificationFailed",
]
