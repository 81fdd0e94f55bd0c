"""The event that answers a change of Billing's settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(Acknowledged, type="billing.PolicyAcknowledged.v1", subject="config_id"):
    """Billing has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
