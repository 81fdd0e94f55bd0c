"""What other domains may know of Billing: its events and its ports."""

from thenga.domains.billing.public import accounts, subscriptions
from thenga.domains.billing.public.accounts import BillingAccountOpened, LedgerCheckFailed
from thenga.domains.billing.public.entitlements import Entitlements, EntitlementSignal, Remedy
from thenga.domains.billing.public.subscriptions import (
    SubscriptionChanged,
    TrialEnded,
    TrialEnding,
    TrialStarted,
)

EVENTS = (*accounts.EVENTS, *subscriptions.EVENTS)

__all__ = [
    "EVENTS",
    "BillingAccountOpened",
    "EntitlementSignal",
    "Entitlements",
    "LedgerCheckFailed",
    "Remedy",
    "SubscriptionChanged",
    "TrialEnded",
    "TrialEnding",
    "TrialStarted",
]
