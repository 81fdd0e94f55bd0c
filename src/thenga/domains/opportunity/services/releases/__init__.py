"""OCDS releases: read with their faults, told apart by content, given a status (OPP-5, 7, 13)."""

from thenga.domains.opportunity.services.releases.categories import (
    Category,
    category_map,
    category_of,
)
from thenga.domains.opportunity.services.releases.identity import content_hash, number_key
from thenga.domains.opportunity.services.releases.lists import document_type
from thenga.domains.opportunity.services.releases.normaliser import VERSION, normalise, unreadable
from thenga.domains.opportunity.services.releases.outcomes import closes_at, status_of
from thenga.domains.opportunity.services.releases.places import province_code

__all__ = [
    "VERSION",
    "Category",
    "category_map",
    "category_of",
    "closes_at",
    "content_hash",
    "document_type",
    "normalise",
    "number_key",
    "province_code",
    "status_of",
    "unreadable",
]
