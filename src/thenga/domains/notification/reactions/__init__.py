"""What Notification does when others publish an event, by the domain that publishes it."""

from thenga.domains.notification.reactions import (  # noqa: F401  # declares them
    administration,
    bid,
    compliance,
    contract,
    deadlines,
    identity,
    marketplace,
    opportunity,
    organization,
    settled,
)
from thenga.domains.notification.reactions.declared import reactions

__all__ = ["reactions"]
