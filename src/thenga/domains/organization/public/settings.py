"""The event that answers a change of Organization's settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(
    Acknowledged, type="organization.PolicyAcknowledged.v1", subject="config_id"
):
    """Organization has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
