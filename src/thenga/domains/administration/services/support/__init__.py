"""Support: cases, messages and targets in working minutes."""

from thenga.domains.administration.services.support.cases import (
    TooManyCases,
    change_case,
    get_case,
    list_cases,
    open_case,
    resolve_case,
    triage_case,
)
from thenga.domains.administration.services.support.clock import (
    first_response,
    resolution,
    tell_breach,
)
from thenga.domains.administration.services.support.messages import list_messages, write_message
from thenga.domains.administration.services.support.targets import due, priority_of
from thenga.domains.administration.tables import Impact, Urgency

__all__ = [
    "Impact",
    "TooManyCases",
    "Urgency",
    "change_case",
    "due",
    "first_response",
    "get_case",
    "list_cases",
    "list_messages",
    "open_case",
    "priority_of",
    "resolution",
    "resolve_case",
    "tell_breach",
    "triage_case",
    "write_message",
]
