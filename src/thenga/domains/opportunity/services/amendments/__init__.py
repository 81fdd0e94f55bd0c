"""Every change of a published tender, and what it touched."""

from thenga.domains.opportunity.services.amendments.amending import amend
from thenga.domains.opportunity.services.amendments.briefings import (
    OpportunityBriefingAfterClosing,
    briefings_of,
    change_briefing,
    get_briefing,
    schedule,
)
from thenga.domains.opportunity.services.amendments.changing import change
from thenga.domains.opportunity.services.amendments.intake import apply_notice
from thenga.domains.opportunity.services.amendments.moving import end, move_by_time
from thenga.domains.opportunity.services.amendments.ripple import (
    begin,
    list_amendments,
    note,
    ripple_amendment,
    ripple_organization,
)

__all__ = [
    "OpportunityBriefingAfterClosing",
    "amend",
    "apply_notice",
    "begin",
    "briefings_of",
    "change",
    "change_briefing",
    "end",
    "get_briefing",
    "list_amendments",
    "move_by_time",
    "note",
    "ripple_amendment",
    "ripple_organization",
    "schedule",
]
