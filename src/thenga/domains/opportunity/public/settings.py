"""The event that answers a change of Opportunity's settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(
    Acknowledged, type="opportunity.PolicyAcknowledged.v1", subject="config_id"
):
    """Opportunity has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
