"""The event that answers a change of Bid's settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(Acknowledged, type="bid.PolicyAcknowledged.v1", subject="config_id"):
    """Bid has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
