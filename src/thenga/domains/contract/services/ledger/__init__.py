"""Money of a contract: counters, journal, retention and the final account."""

from thenga.domains.contract.services.ledger.balances import Balances, money_of
from thenga.domains.contract.services.ledger.bookings import (
    Booking,
    advance_booking,
    payment_booking,
    progress_booking,
    release_booking,
    write_off_booking,
)
from thenga.domains.contract.services.ledger.final_account import FinalAccount, balance_account
from thenga.domains.contract.services.ledger.retention import (
    ReleasePart,
    releasable,
    release_parts,
)

__all__ = [
    "Balances",
    "Booking",
    "FinalAccount",
    "ReleasePart",
    "advance_booking",
    "balance_account",
    "money_of",
    "payment_booking",
    "progress_booking",
    "releasable",
    "release_booking",
    "release_parts",
    "write_off_booking",
]
