"""Escalations: steps in working hours until somebody resolves the matter (NOT-41)."""

from thenga.domains.notification.services.escalations.escalations import (
    EscalationFilters,
    holder_of,
    list_escalations,
    next_people,
    open_escalation,
    policy_of,
    resolve_by_key,
    resolve_escalation,
    resolve_on_event,
    step_escalation,
)
from thenga.domains.notification.services.escalations.policies import Policy, Step, policies

__all__ = [
    "EscalationFilters",
    "Policy",
    "Step",
    "holder_of",
    "list_escalations",
    "next_people",
    "open_escalation",
    "policies",
    "policy_of",
    "resolve_by_key",
    "resolve_escalation",
    "resolve_on_event",
    "step_escalation",
]
