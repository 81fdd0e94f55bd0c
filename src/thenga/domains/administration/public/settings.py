"""The event that answers a change of Administration's own settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(
    Acknowledged, type="administration.PolicyAcknowledged.v1", subject="config_id"
):
    """Administration has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
