"""The event that answers a change of Compliance's settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(
    Acknowledged, type="compliance.PolicyAcknowledged.v1", subject="config_id"
):
    """Compliance has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
