"""What Opportunity does when others publish an event, by the domain that publishes it."""

from thenga.domains.opportunity.reactions import (  # noqa: F401  # declares them
    bid,
    billing,
    compliance,
    identity,
    notices,
    organization,
    tenders,
)
from thenga.domains.opportunity.reactions.declared import reactions

__all__ = ["reactions"]
