"""The lifecycles of Administration, by room: which moves exist, and the conditions for them."""

from thenga.domains.administration.lifecycles import (
    configuration,
    integrations,
    policies,
    reviews,
    support,
)
from thenga.domains.administration.lifecycles.configuration import ConfigurationLifecycle
from thenga.domains.administration.lifecycles.integrations import IntegrationLifecycle
from thenga.domains.administration.lifecycles.policies import PolicyLifecycle
from thenga.domains.administration.lifecycles.reviews import (
    AuditFindingLifecycle,
    AuditReviewLifecycle,
    GovernanceDecisionLifecycle,
)
from thenga.domains.administration.lifecycles.support import CaseTooOld, SupportCaseLifecycle
from thenga.kernel.declare.lifecycle import Lifecycle

LIFECYCLES: tuple[type[Lifecycle], ...] = (
    *configuration.LIFECYCLES,
    *policies.LIFECYCLES,
    *integrations.LIFECYCLES,
    *support.LIFECYCLES,
    *reviews.LIFECYCLES,
)

__all__ = [
    "LIFECYCLES",
    "AuditFindingLifecycle",
    "AuditReviewLifecycle",
    "CaseTooOld",
    "ConfigurationLifecycle",
    "GovernanceDecisionLifecycle",
    "IntegrationLifecycle",
    "PolicyLifecycle",
    "SupportCaseLifecycle",
]
