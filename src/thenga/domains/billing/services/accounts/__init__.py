"""Accounts: opening, changing, parking and closing a billing account, and its nightly checks."""

from thenga.domains.billing.services.accounts.accounts import (
    AccountSummary,
    change_account,
    close_account,
    complete_account,
    flag_for_review,
    is_sandbox,
    list_accounts,
    open_account,
    summarize_account,
    unpark_account,
)
from thenga.domains.billing.services.accounts.ledger_checks import (
    list_checks,
    report_missing_check,
    verify_ledger,
)
from thenga.domains.billing.services.accounts.parking import Timed, park, park_broken, unpark
from thenga.domains.billing.services.accounts.sandbox_clock import (
    ClockBackwards,
    advance,
    advance_clock,
    ahead_seconds,
    current,
    next_step,
    record_step,
)

__all__ = [
    "AccountSummary",
    "ClockBackwards",
    "Timed",
    "advance",
    "advance_clock",
    "ahead_seconds",
    "change_account",
    "close_account",
    "complete_account",
    "current",
    "flag_for_review",
    "is_sandbox",
    "list_accounts",
    "list_checks",
    "next_step",
    "open_account",
    "park",
    "park_broken",
    "record_step",
    "report_missing_check",
    "summarize_account",
    "unpark",
    "unpark_account",
    "verify_ledger",
]
