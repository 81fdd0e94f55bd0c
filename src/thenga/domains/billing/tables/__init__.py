"""What Billing remembers, by area."""

from thenga.domains.billing.tables.accounts import (
    Account,
    AccountStatus,
    Book,
    CollectionMethod,
    Standing,
)
from thenga.domains.billing.tables.catalogue import (
    ConfigurationValue,
    Feature,
    FeatureType,
    Interval,
    Meter,
    MeterKind,
    OfferedPlan,
    PlanKind,
    PlanStatus,
    PlanVersion,
    Seller,
)
from thenga.domains.billing.tables.ledger import (
    DocumentSeries,
    EntryKind,
    JournalEntry,
    JournalLine,
    LedgerVerification,
)
from thenga.domains.billing.tables.subscriptions import (
    Access,
    Subscription,
    SubscriptionStatus,
    Trial,
    TrialCompany,
    TrialStatus,
)

__all__ = [
    "Access",
    "Account",
    "AccountStatus",
    "Book",
    "CollectionMethod",
    "ConfigurationValue",
    "DocumentSeries",
    "EntryKind",
    "Feature",
    "FeatureType",
    "Interval",
    "JournalEntry",
    "JournalLine",
    "LedgerVerification",
    "Meter",
    "MeterKind",
    "OfferedPlan",
    "PlanKind",
    "PlanStatus",
    "PlanVersion",
    "Seller",
    "Standing",
    "Subscription",
    "SubscriptionStatus",
    "Trial",
    "TrialCompany",
    "TrialStatus",
]
