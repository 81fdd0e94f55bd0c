"""What Organization remembers: schema `organization`."""

from thenga.domains.organization.tables.assets import (
    Asset,
    Equipment,
    EquipmentStatus,
    FleetAsset,
    FleetAssetStatus,
)
from thenga.domains.organization.tables.checks import (
    FactSuggestion,
    Outcome,
    SuggestionStatus,
    Verification,
)
from thenga.domains.organization.tables.directors import (
    Director,
    DirectorStatus,
    DirectorVerification,
    FlagDeclaration,
    FlagFinding,
)
from thenga.domains.organization.tables.disclosures import (
    Disclosure,
)
from thenga.domains.organization.tables.experience import (
    ClientReference,
    ClientReferenceStatus,
    PastProject,
    PastProjectStatus,
    PastProjectVerification,
)
from thenga.domains.organization.tables.facts import (
    CustomerStatement,
    Fact,
    FactConflict,
    FactFreshness,
    FactKey,
    FactVerification,
    FactVersion,
    Founding,
    ImportedStatement,
    Organization,
    OrganizationCard,
    OrganizationStatus,
    Origin,
)
from thenga.domains.organization.tables.offers import (
    Capability,
    CapabilityStatus,
    CapabilityVerification,
    ClassificationCode,
    EvidenceState,
    KnownEvidence,
    Offering,
    Product,
    ProductStatus,
    Service,
    ServiceStatus,
)
from thenga.domains.organization.tables.people import (
    Contact,
    MemberRef,
    MemberStatus,
    OrganizationUser,
)
from thenga.domains.organization.tables.places import (
    Address,
    Municipality,
)
from thenga.domains.organization.tables.readmodels import (
    ExternalRef,
    GraphEdge,
    Health,
    HealthSnapshot,
    PreferencesVersion,
    ProcurementPreferences,
)
from thenga.domains.organization.tables.records import (
    Record,
    RecordKind,
    RecordVersion,
)
from thenga.domains.organization.tables.secrets import (
    DataKey,
)

__all__ = [
    "Address",
    "Asset",
    "Capability",
    "CapabilityStatus",
    "CapabilityVerification",
    "ClassificationCode",
    "ClientReference",
    "ClientReferenceStatus",
    "Contact",
    "CustomerStatement",
    "DataKey",
    "Director",
    "DirectorStatus",
    "DirectorVerification",
    "Disclosure",
    "Equipment",
    "EquipmentStatus",
    "EvidenceState",
    "ExternalRef",
    "Fact",
    "FactConflict",
    "FactFreshness",
    "FactKey",
    "FactSuggestion",
    "FactVerification",
    "FactVersion",
    "FlagDeclaration",
    "FlagFinding",
    "FleetAsset",
    "FleetAssetStatus",
    "Founding",
    "GraphEdge",
    "Health",
    "HealthSnapshot",
    "ImportedStatement",
    "KnownEvidence",
    "MemberRef",
    "MemberStatus",
    "Municipality",
    "Offering",
    "Organization",
    "OrganizationCard",
    "OrganizationStatus",
    "OrganizationUser",
    "Origin",
    "Outcome",
    "PastProject",
    "PastProjectStatus",
    "PastProjectVerification",
    "PreferencesVersion",
    "ProcurementPreferences",
    "Product",
    "ProductStatus",
    "Record",
    "RecordKind",
    "RecordVersion",
    "Service",
    "ServiceStatus",
    "SuggestionStatus",
    "Verification",
]
