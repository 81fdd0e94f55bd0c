"""What Administration stores: schema `administration`."""

from thenga.domains.administration.tables.actions import AdminAction
from thenga.domains.administration.tables.configuration import (
    ConfigurationStatus,
    ConfigurationVersion,
    Declaration,
    DeclarationStatus,
)
from thenga.domains.administration.tables.flags import (
    FeatureFlag,
    FlagMode,
    FlagPurpose,
    FlagRollout,
    FlagStickiness,
    FlagValueType,
    TenantCard,
)
from thenga.domains.administration.tables.integrations import (
    IntegrationConfiguration,
    IntegrationSecret,
    IntegrationStatus,
)
from thenga.domains.administration.tables.policies import (
    PolicyConfiguration,
    PolicyKind,
    PolicyStatus,
)
from thenga.domains.administration.tables.reviews import (
    AuditFinding,
    AuditReview,
    DecisionCategory,
    DecisionStatus,
    FindingStatus,
    GovernanceDecision,
    ReviewKind,
    ReviewStatus,
)
from thenga.domains.administration.tables.support import (
    AuthorKind,
    CaseCategory,
    Impact,
    ResolutionCode,
    SupportCase,
    SupportCaseStatus,
    SupportMessage,
    Urgency,
)

__all__ = [
    "AdminAction",
    "AuditFinding",
    "AuditReview",
    "AuthorKind",
    "CaseCategory",
    "ConfigurationStatus",
    "ConfigurationVersion",
    "DecisionCategory",
    "DecisionStatus",
    "Declaration",
    "DeclarationStatus",
    "FeatureFlag",
    "FindingStatus",
    "FlagMode",
    "FlagPurpose",
    "FlagRollout",
    "FlagStickiness",
    "FlagValueType",
    "GovernanceDecision",
    "Impact",
    "IntegrationConfiguration",
    "IntegrationSecret",
    "IntegrationStatus",
    "PolicyConfiguration",
    "PolicyKind",
    "PolicyStatus",
    "ResolutionCode",
    "ReviewKind",
    "ReviewStatus",
    "SupportCase",
    "SupportCaseStatus",
    "SupportMessage",
    "TenantCard",
    "Urgency",
]
