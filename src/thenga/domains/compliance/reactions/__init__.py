"""What Compliance does when others publish an event, by the domain that publishes it."""

from thenga.domains.compliance.reactions import (  # noqa: F401  # declares them
    bid,
    documents,
    identity,
    learning,
    opportunity,
    organization,
)
from thenga.domains.compliance.reactions.declared import reactions

__all__ = ["reactions"]
