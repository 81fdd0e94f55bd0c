"""The signal: a pure function of the set, the usage and the time (BIL-4, BIL-45).

`entitled` says whether this use is covered now, `access` what the organization's standing allows.
Callers check both.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from thenga.domains.billing.public import EntitlementSignal
from thenga.domains.billing.services import metering
from thenga.domains.billing.services.catalogue import Boolean, Entitlement, Limit, Metered
from thenga.domains.billing.services.entitlements.merging import HeldSet
from thenga.domains.billing.tables import Access

_WARNING_PCT = 80

State = Literal["granted", "limited", "exhausted", "missing"]


@dataclass(frozen=True, slots=True)
class Question:
    """The feature and quantity in question, and whether the catalogue has the feature."""

    feature: str
    quantity: int = 1
    known: bool = True


def signal(
    held: HeldSet | None,
    used: metering.Used,
    now: datetime,
    asked: Question,
    *,
    sequence: int = 0,
) -> EntitlementSignal:
    """Whether the use is covered, and why. `held` is None without an account."""
    item = held.items.get(asked.feature) if held else None
    entitlement = item.entitlement if item else None
    counted = entitlement if isinstance(entitlement, Limit | Metered) else None
    limit = counted.limit if counted else None
    capped = held is not None and held.spend_capped
    reason = _refusal(held, entitlement, used, asked)
    access = held.access if held else Access.NONE
    return EntitlementSignal(
        feature=asked.feature,
        entitled=reason is None,
        reason=reason or ("grace" if access is Access.GRACE else "included"),
        state=state_of(entitlement, used, capped=capped),
        access=access.value,
        type=entitlement.type.value if entitlement else None,
        limit=limit,
        used=used.taken if counted else None,
        remaining=None if limit is None else max(0, limit - used.taken),
        hard=counted is None or _is_hard(counted, capped=capped),
        resets_at=used.resets_at if isinstance(entitlement, Metered) else None,
        as_of=now,
        sequence=sequence,
    )


Refused = Literal[
    "unknown_feature",
    "no_subscription",
    "not_in_plan",
    "limit_reached",
    "spend_cap_reached",
    "payment_overdue",
    "suspended",
    "paused",
    "trial_ended",
]
_STANDING: dict[str | None, Refused] = {
    "payment_overdue": "payment_overdue",
    "suspended": "suspended",
    "paused": "paused",
}


def _refusal(
    held: HeldSet | None, entitlement: Entitlement | None, used: metering.Used, asked: Question
) -> Refused | None:
    if not asked.known:
        return "unknown_feature"
    if held is None:
        return "no_subscription"
    if held.access in (Access.READ_ONLY, Access.NONE):
        # Payment comes first: no other plan can be bought while an invoice is overdue (BIL-11).
        return _STANDING.get(held.because, "suspended")
    if entitlement is None or not _gives(entitlement):
        return "trial_ended" if held.trial_ended else "not_in_plan"
    if isinstance(entitlement, Boolean) or entitlement.limit is None:
        return None
    if used.taken + asked.quantity <= entitlement.limit:
        return None
    if not _is_hard(entitlement, capped=held.spend_capped):
        return None
    return "limit_reached" if entitlement.mode == "hard" else "spend_cap_reached"


def _gives(entitlement: Entitlement) -> bool:
    """Whether it gives anything. A hard limit of 0 means the feature is not included."""
    if isinstance(entitlement, Boolean):
        return entitlement.value
    return entitlement.limit != 0 or entitlement.mode == "soft"


def _is_hard(entitlement: Limit | Metered, *, capped: bool) -> bool:
    return entitlement.mode == "hard" or capped


def state_of(entitlement: Entitlement | None, used: metering.Used, *, capped: bool) -> State:
    """How far a feature is used. `exhausted` only if more would be refused."""
    if entitlement is None or not _gives(entitlement):
        return "missing"
    if isinstance(entitlement, Boolean) or entitlement.limit is None:
        return "granted"
    if used.taken >= entitlement.limit and _is_hard(entitlement, capped=capped):
        return "exhausted"
    warned = used.taken * 100 >= entitlement.limit * _WARNING_PCT
    return "limited" if warned else "granted"
