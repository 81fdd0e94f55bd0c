"""Entitlements: what an organization may use now, from plans, grants and usage (BIL-45, BIL-46)."""

from thenga.domains.billing.services.entitlements.current import (
    CurrentSet,
    current_set,
    is_up_to_date,
    refresh,
    remaining_spend_cap,
    signal,
    signal_many,
    usage_calendar_of,
)
from thenga.domains.billing.services.entitlements.grants import (
    expire_grant,
    grant_status,
    issue_grant,
    list_grants,
    revoke_grant,
)
from thenga.domains.billing.services.entitlements.listing import (
    Listed,
    ListedEntitlement,
    list_entitlements,
    list_for_subscription,
)
from thenga.domains.billing.services.entitlements.remedies import serialize_remedy
from thenga.domains.billing.services.entitlements.sources import end_fallback_plan

__all__ = [
    "CurrentSet",
    "Listed",
    "ListedEntitlement",
    "current_set",
    "end_fallback_plan",
    "expire_grant",
    "grant_status",
    "is_up_to_date",
    "issue_grant",
    "list_entitlements",
    "list_for_subscription",
    "list_grants",
    "refresh",
    "remaining_spend_cap",
    "revoke_grant",
    "serialize_remedy",
    "signal",
    "signal_many",
    "usage_calendar_of",
]
