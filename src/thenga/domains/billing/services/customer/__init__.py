"""Customer: the account lock, billing details, and notices to the payer."""

from thenga.domains.billing.services.customer.account_lock import (
    TOO_MANY_LINES,
    AccountParked,
    account_opening,
    check_not_parked,
    check_open,
    free_account,
    lock_account,
    park_account,
)
from thenga.domains.billing.services.customer.company_profile import (
    Registered,
    bill_to_from_profile,
    company_profile_of,
    has_used_trial,
    is_sandbox,
    registered,
    time_zone_of,
)
from thenga.domains.billing.services.customer.notices import (
    DISPUTE_LOST,
    GRACE_ENDING,
    PAYMENT_FAILED,
    RENEWAL_DUE,
    TRIAL_ENDING,
    notify,
    tell_payer,
)
from thenga.domains.billing.services.customer.recipient import (
    PARKED_FOR,
    TaxDataMissing,
    is_recipient_complete,
    recipient_of,
)
from thenga.domains.billing.services.customer.registration_numbers import (
    REGISTRATION_PATTERN,
    VAT_PATTERN,
    registration_number,
    vat_number,
)

__all__ = [
    "DISPUTE_LOST",
    "GRACE_ENDING",
    "PARKED_FOR",
    "PAYMENT_FAILED",
    "REGISTRATION_PATTERN",
    "RENEWAL_DUE",
    "TOO_MANY_LINES",
    "TRIAL_ENDING",
    "VAT_PATTERN",
    "AccountParked",
    "Registered",
    "TaxDataMissing",
    "account_opening",
    "bill_to_from_profile",
    "check_not_parked",
    "check_open",
    "company_profile_of",
    "free_account",
    "has_used_trial",
    "is_recipient_complete",
    "is_sandbox",
    "lock_account",
    "notify",
    "park_account",
    "recipient_of",
    "registered",
    "registration_number",
    "tell_payer",
    "time_zone_of",
    "vat_number",
]
