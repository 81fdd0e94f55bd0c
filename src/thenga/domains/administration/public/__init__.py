"""What other domains may know of Administration: its events, its ports and their values."""

from thenga.domains.administration.public import (
    configuration,
    flags,
    integrations,
    reviews,
    settings,
    support,
)
from thenga.domains.administration.public.configuration import (
    ConfigurationChanged,
    PolicyConfigurationChanged,
    Scope,
)
from thenga.domains.administration.public.flags import FeatureFlagRolledOut, FlagResult, Flags
from thenga.domains.administration.public.integrations import (
    Environment,
    IntegrationConfigurationChanged,
    Integrations,
    SealedIntegration,
    SealedSecret,
    SecretVersion,
    open_secret,
)
from thenga.domains.administration.public.reviews import (
    AuditFindingRecorded,
    AuditReviewClosed,
    AuditReviewOpened,
    GovernanceDecisionRecorded,
)
from thenga.domains.administration.public.settings import PolicyAcknowledged
from thenga.domains.administration.public.support import (
    SupportCaseBreached,
    SupportCaseOpened,
    SupportCaseReplied,
    SupportCaseResolved,
    SupportCaseUpdated,
)

EVENTS = (
    *configuration.EVENTS,
    *flags.EVENTS,
    *support.EVENTS,
    *reviews.EVENTS,
    *integrations.EVENTS,
    *settings.EVENTS,
)

__all__ = [
    "EVENTS",
    "AuditFindingRecorded",
    "AuditReviewClosed",
    "AuditReviewOpened",
    "ConfigurationChanged",
    "Environment",
    "FeatureFlagRolledOut",
    "FlagResult",
    "Flags",
    "GovernanceDecisionRecorded",
    "IntegrationConfigurationChanged",
    "Integrations",
    "PolicyAcknowledged",
    "PolicyConfigurationChanged",
    "Scope",
    "SealedIntegration",
    "SealedSecret",
    "SecretVersion",
    "SupportCaseBreached",
    "SupportCaseOpened",
    "SupportCaseReplied",
    "SupportCaseResolved",
    "SupportCaseUpdated",
    "open_secret",
]
