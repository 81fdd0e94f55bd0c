"""Stage 7: whether the organization's plan has it (IDN-32)."""

from datetime import datetime, timedelta
from typing import Any

from thenga.domains.identity.services.decisions._facts import Facts
from thenga.domains.identity.services.decisions._outcome import Outcome
from thenga.kernel.declare.permission import Effect, Sensitivity

FRESH = timedelta(minutes=1)
LAST_KNOWN = timedelta(minutes=5)
ASK = Outcome("ask_billing")  # not a decision: Billing must be asked first
_ASKED_LIVE = (Sensitivity.MONEY, Sensitivity.ADMINISTRATION)
_UNKNOWN = Outcome("entitlement_unknown", {"kind": "retry"}, facts={"dependency": "billing"})


def entitled(facts: Facts, now: datetime) -> Outcome | None:
    """None where the plan allows it; `ASK` where the last known signal does not suffice."""
    live = facts.sensitivity in _ASKED_LIVE
    age = _age(facts, now)
    if facts.billing == "not_asked" and (live or age is None or age > FRESH):
        return ASK
    if facts.billing == "silent" and (live or age is None or age > LAST_KNOWN):
        return _UNKNOWN
    failed = _by_signal(facts)
    # Nobody is refused by memory alone: the plan may have been bought a moment ago, and only
    # Billing knows what it would cost today.
    return ASK if failed is not None and facts.billing == "not_asked" else failed


def _age(facts: Facts, now: datetime) -> timedelta | None:
    return None if facts.signal_checked_at is None else now - facts.signal_checked_at


def _by_signal(facts: Facts) -> Outcome | None:
    helps = {"kind": "plan"} | (facts.signal_remedy or {}) | {"feature": facts.feature}
    told: dict[str, Any] = {
        "entitlement": facts.feature,
        "limit": facts.signal_limit,
        "used": facts.signal_used,
    }
    reads = facts.effect == Effect.READ
    if facts.while_suspended:
        return None  # reading invoices, paying, exporting and one's own account stay open
    if facts.signal_access == "read_only":
        return None if reads else Outcome("read_only", helps, facts=told)
    if facts.signal_access not in ("full", "grace") or facts.signal_state == "missing":
        return Outcome("entitlement_missing", helps, facts=told)
    if facts.signal_state == "exhausted" and not reads:
        return Outcome("limit_reached", helps, facts=told)
    return None


def shown(facts: Facts) -> dict[str, Any] | None:
    """The signal as an answer carries it (IDN-28)."""
    if facts.feature is None or facts.signal_checked_at is None:
        return None
    limit, used = facts.signal_limit, facts.signal_used
    return {
        "feature": facts.feature,
        "state": facts.signal_state,
        "access": facts.signal_access,
        "limit": limit,
        "used": used,
        "remaining": None if limit is None or used is None else max(0, limit - used),
        "resetsAt": facts.signal_resets_at,
        "asOf": facts.signal_checked_at,
    }
