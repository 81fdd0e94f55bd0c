"""Every change of a published tender, and what it touched."""

from thenga.domains.opportunity.services.amendments.amending import amend
from thenga.domains.opportunity.services.amendments.intake import apply_notice
from thenga.domains.opportunity.services.amendments.moving import end, move_by_time

__all__ = ["amend", "apply_notice", "end", "move_by_time"]
