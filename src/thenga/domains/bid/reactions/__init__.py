"""What Bid does when others publish an event, by the domain that publishes it."""

from thenga.domains.bid.reactions import (  # noqa: F401  # declares them
    compliance,
    identity,
    opportunity,
    organization,
)
from thenga.domains.bid.reactions.declared import reactions

__all__ = ["reactions"]
