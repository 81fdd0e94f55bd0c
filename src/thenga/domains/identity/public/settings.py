"""The event that answers a change of Identity's settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(Acknowledged, type="identity.PolicyAcknowledged.v1", subject="config_id"):
    """Identity has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
