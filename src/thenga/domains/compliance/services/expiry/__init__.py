"""Expiry: last valid days and the windows in which they are told (CMP-24, CMP-25)."""

from thenga.domains.compliance.services.expiry.listing import (
    ExpiryEntry,
    ExpiryFilters,
    list_expiries,
)
from thenga.domains.compliance.services.expiry.telling import requirement_codes, tell_due

__all__ = [
    "ExpiryEntry",
    "ExpiryFilters",
    "list_expiries",
    "requirement_codes",
    "tell_due",
]
