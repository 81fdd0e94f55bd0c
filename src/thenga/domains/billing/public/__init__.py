"""Billing for other domains: its events and ports."""

from thenga.domains.billing.public import (
    accounts,
    documents,
    payments,
    recovery,
    settings,
    subscriptions,
    usage,
)
from thenga.domains.billing.public.accounts import (
    BillingAccountOpened,
    LedgerCheckFailed,
)
from thenga.domains.billing.public.documents import (
    CreditNoteIssued,
    InvoiceIssued,
)
from thenga.domains.billing.public.entitlements import (
    Entitlements,
    EntitlementSignal,
    Remedy,
    check_room,
)
from thenga.domains.billing.public.payments import (
    PaymentDisputed,
    PaymentMethodExpiring,
    PaymentMismatchFound,
    PaymentSucceeded,
    RefundSucceeded,
)
from thenga.domains.billing.public.recovery import (
    GraceEnding,
    PaymentFailed,
    PaymentRecovered,
    RemedyTold,
    RenewalDue,
)
from thenga.domains.billing.public.settings import PolicyAcknowledged
from thenga.domains.billing.public.subscriptions import (
    PauseEnding,
    PeriodTold,
    SubscriptionCancelled,
    SubscriptionChanged,
    TrialEnded,
    TrialEnding,
    TrialStarted,
)
from thenga.domains.billing.public.usage import (
    EntitlementChanged,
    EntitlementTold,
    EntryOutcome,
    FeatureChanged,
    Reserved,
    Usage,
    UsageEntry,
    UsageLimitReached,
    UsageReceipt,
    report_use,
)

EVENTS = (
    *accounts.EVENTS,
    *documents.EVENTS,
    *payments.EVENTS,
    *recovery.EVENTS,
    *subscriptions.EVENTS,
    *usage.EVENTS,
    *settings.EVENTS,
)

__all__ = [
    "EVENTS",
    "BillingAccountOpened",
    "CreditNoteIssued",
    "EntitlementChanged",
    "EntitlementSignal",
    "EntitlementTold",
    "Entitlements",
    "EntryOutcome",
    "FeatureChanged",
    "GraceEnding",
    "InvoiceIssued",
    "LedgerCheckFailed",
    "PauseEnding",
    "PaymentDisputed",
    "PaymentFailed",
    "PaymentMethodExpiring",
    "PaymentMismatchFound",
    "PaymentRecovered",
    "PaymentSucceeded",
    "PeriodTold",
    "PolicyAcknowledged",
    "RefundSucceeded",
    "Remedy",
    "RemedyTold",
    "RenewalDue",
    "Reserved",
    "SubscriptionCancelled",
    "SubscriptionChanged",
    "TrialEnded",
    "TrialEnding",
    "TrialStarted",
    "Usage",
    "UsageEntry",
    "UsageLimitReached",
    "UsageReceipt",
    "check_room",
    "report_use",
]
