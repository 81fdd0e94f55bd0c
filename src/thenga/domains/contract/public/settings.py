"""The event that answers a change of Contract's settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(Acknowledged, type="contract.PolicyAcknowledged.v1", subject="config_id"):
    """Contract has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
