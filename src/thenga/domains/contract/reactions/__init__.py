"""What Contract does when others publish an event, by the domain that publishes it."""

from thenga.domains.contract.reactions import (  # noqa: F401  # declares them
    bid,
    compliance,
    organization,
)
from thenga.domains.contract.reactions.declared import reactions

__all__ = ["reactions"]
