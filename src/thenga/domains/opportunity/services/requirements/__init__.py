"""What a tender asks for, with the page on which it stands (OPP-24, OPP-26)."""

from thenga.domains.opportunity.services.requirements.criteria import CriterionInvalid
from thenga.domains.opportunity.services.requirements.requirements import (
    CitationNotFound,
    capture,
    change,
    get,
    list_all,
)
from thenga.domains.opportunity.services.requirements.terms import terms_of

__all__ = [
    "CitationNotFound",
    "CriterionInvalid",
    "capture",
    "change",
    "get",
    "list_all",
    "terms_of",
]
