"""Compliance's tables, by area."""

from thenga.domains.compliance.tables.catalogue import (
    CatalogueEntry,
    DocumentType,
    RequirementDefinition,
)
from thenga.domains.compliance.tables.documents import (
    Document,
    DocumentStatus,
    DocumentVersion,
    DownloadTicket,
)
from thenga.domains.compliance.tables.evidence import (
    Assurance,
    Evidence,
    EvidenceLink,
    EvidenceStatus,
    KnownReference,
    Verification,
    VerificationStatus,
    VerificationTicket,
)
from thenga.domains.compliance.tables.readiness import (
    ExpiryTold,
    ReadinessSnapshot,
    ReadinessState,
    TrackedTender,
)
from thenga.domains.compliance.tables.requirements import (
    Applicability,
    Origin,
    Profile,
    Requirement,
    Tenant,
)
from thenga.domains.compliance.tables.risks import (
    AiSuggestion,
    Risk,
    RiskStatus,
    SuggestionStatus,
)

__all__ = [
    "AiSuggestion",
    "Applicability",
    "Assurance",
    "CatalogueEntry",
    "Document",
    "DocumentStatus",
    "DocumentType",
    "DocumentVersion",
    "DownloadTicket",
    "Evidence",
    "EvidenceLink",
    "EvidenceStatus",
    "ExpiryTold",
    "KnownReference",
    "Origin",
    "Profile",
    "ReadinessSnapshot",
    "ReadinessState",
    "Requirement",
    "RequirementDefinition",
    "Risk",
    "RiskStatus",
    "SuggestionStatus",
    "Tenant",
    "TrackedTender",
    "Verification",
    "VerificationStatus",
    "VerificationTicket",
]
