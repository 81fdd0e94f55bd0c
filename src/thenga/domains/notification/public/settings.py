"""The event that answers a change of Notification's settings."""

from thenga.kernel.declare.setting import Acknowledged


class PolicyAcknowledged(
    Acknowledged, type="notification.PolicyAcknowledged.v1", subject="config_id"
):
    """Notification has applied or refused a published setting or policy."""


EVENTS = (PolicyAcknowledged,)
