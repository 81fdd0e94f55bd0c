"""Support: cases, messages and targets in working minutes."""

from thenga.domains.administration.services.support.targets import (
    PRIORITIES,
    TARGETS,
    Due,
    Impact,
    Urgency,
    due,
    higher,
    priority_of,
)

__all__ = ["PRIORITIES", "TARGETS", "Due", "Impact", "Urgency", "due", "higher", "priority_of"]
