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
from thenga.domains.contract.services.ledger.cash_plans import describe_cash_plan
from thenga.domains.contract.services.ledger.checks import verify_money
from thenga.domains.contract.services.ledger.counters import (
    ContractNotActive,
    change_value,
    lock_money,
    open_money,
    refresh_cap,
)
from thenga.domains.contract.services.ledger.final_account import (
    FinalAccount,
    balance_account,
    final_account,
    open_money_of,
)
from thenga.domains.contract.services.ledger.journal import (
    JournalFilters,
    account_balances,
    entry_lines,
    list_entries,
    post,
)
from thenga.domains.contract.services.ledger.retention import (
    parts_of,
    releasable,
    release_parts,
    tell_retention,
)

__all__ = [
    "Balances",
    "Booking",
    "ContractNotActive",
    "FinalAccount",
    "JournalFilters",
    "account_balances",
    "advance_booking",
    "balance_account",
    "change_value",
    "describe_cash_plan",
    "entry_lines",
    "final_account",
    "list_entries",
    "lock_money",
    "money_of",
    "open_money",
    "open_money_of",
    "parts_of",
    "payment_booking",
    "post",
    "progress_booking",
    "refresh_cap",
    "releasable",
    "release_booking",
    "release_parts",
    "tell_retention",
    "verify_money",
    "write_off_booking",
]
