"""Awards: the stored events that contracts begin with (CON-1 to 4)."""

from thenga.domains.contract.services.awards.queries import (
    AwardFilters,
    AwardUnknown,
    list_awards,
    lock_award,
)
from thenga.domains.contract.services.awards.recording import (
    awarded_value,
    hash_of,
    is_withdrawn,
    mark_opened,
    record_award,
    withdraw_awards,
)

__all__ = [
    "AwardFilters",
    "AwardUnknown",
    "awarded_value",
    "hash_of",
    "is_withdrawn",
    "list_awards",
    "lock_award",
    "mark_opened",
    "record_award",
    "withdraw_awards",
]
