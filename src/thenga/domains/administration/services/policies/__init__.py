"""Policies: approved by another person, published, acknowledged by the target domain."""

from thenga.domains.administration.services.policies.acknowledging import (
    acknowledge,
    is_late,
    lag_seconds,
    late_since,
    record_acknowledgement,
)
from thenga.domains.administration.services.policies.policies import (
    PolicyInvalid,
    approve,
    create,
    list_policies,
    publish_policy,
    reject,
    withdraw,
)
from thenga.domains.administration.services.policies.publishing import (
    advance,
    advance_policy,
    block,
    due_policies,
    publish,
    to_publish,
)

__all__ = [
    "PolicyInvalid",
    "acknowledge",
    "advance",
    "advance_policy",
    "approve",
    "block",
    "create",
    "due_policies",
    "is_late",
    "lag_seconds",
    "late_since",
    "list_policies",
    "publish",
    "publish_policy",
    "record_acknowledgement",
    "reject",
    "to_publish",
    "withdraw",
]
