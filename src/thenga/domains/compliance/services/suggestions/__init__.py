"""Suggestions: machines propose, a person decides, nothing else reads them (CMP-36)."""

from thenga.domains.compliance.services.suggestions.proposing import (
    Proposal,
    SuggestionFilters,
    expire,
    list_suggestions,
    propose,
    supersede,
)
from thenga.domains.compliance.services.suggestions.reviewing import (
    AiSuggestionStale,
    Review,
    review,
)

__all__ = [
    "AiSuggestionStale",
    "Proposal",
    "Review",
    "SuggestionFilters",
    "expire",
    "list_suggestions",
    "propose",
    "review",
    "supersede",
]
