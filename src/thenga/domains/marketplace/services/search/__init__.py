"""Search over published listings: entries, what finds them, and their order."""

from thenga.domains.marketplace.services.search import ranking
from thenga.domains.marketplace.services.search.entries import (
    FOUND,
    refresh_entry,
    reindex_listing,
    remove_entry,
    trust_of,
)
from thenga.domains.marketplace.services.search.queries import Found, Hit, any_of, search

__all__ = [
    "FOUND",
    "Found",
    "Hit",
    "any_of",
    "ranking",
    "refresh_entry",
    "reindex_listing",
    "remove_entry",
    "search",
    "trust_of",
]
