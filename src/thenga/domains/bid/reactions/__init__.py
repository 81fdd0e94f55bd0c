"""What Bid does when others publish an event, by the domain that publishes it."""

from thenga.domains.bid.reactions.declared import reactions

__all__ = ["reactions"]
