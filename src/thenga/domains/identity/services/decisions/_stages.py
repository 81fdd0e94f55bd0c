"""The stages of IDN-29: the first that fails names the reason and what would help.

A pure function of the facts; the reference model of the tests has the same table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from thenga.domains.identity.services import policies
from thenga.domains.identity.services.decisions._facts import Facts
from thenga.kernel.gate import HeldAs
from thenga.kernel.manifest import Audience, Effect


@dataclass(frozen=True, slots=True)
class Outcome:
    """Allow or deny with the reason; `held_as` says by which audience it was held."""

    reason: str
    remedy: dict[str, Any] | None = None
    held_as: HeldAs | None = None

    @property
    def allowed(self) -> bool:
        return self.reason == "allowed"


_SIGN_IN = {"kind": "sign_in"}
_REFRESH = {"kind": "refresh"}
_CONTACT = {"kind": "contact"}
_ASK_OWNER = {"kind": "ask_owner"}

Policy = Callable[[dict[str, Any]], policies.Verdict]


def decide(facts: Facts, *, asked: UUID | None, now: datetime, policy: Policy) -> Outcome:
    """May this credential use this permission; `asked` is the organization named, if one was."""
    return (
        _credential(facts, now)
        or _account(facts)
        or _in_tenant(facts, asked)
        or _held(facts, asked, policy, now)
    )


def _credential(facts: Facts, now: datetime) -> Outcome | None:
    if facts.session_status is None or facts.session_expires_at is None:
        return Outcome("unknown_credential", _SIGN_IN)
    if facts.session_status in ("revoked", "signed_out"):
        return Outcome("session_revoked", _SIGN_IN)
    over = now >= facts.session_expires_at or (
        facts.idle_expires_at is not None and now >= facts.idle_expires_at
    )
    if facts.session_status == "expired" or over:
        return Outcome("session_expired", _SIGN_IN)
    if facts.token_expires_at is not None and now >= facts.token_expires_at:
        return Outcome("token_expired", _REFRESH)
    return None


def _account(facts: Facts) -> Outcome | None:
    if facts.user_status != "active":
        return Outcome("account_disabled", _CONTACT)
    if facts.session_status == "pending_mfa":
        return Outcome("mfa_pending", {"kind": "prove", "methods": ["totp", "recovery_code"]})
    return None


def _in_tenant(facts: Facts, asked: UUID | None) -> Outcome | None:
    """Stages 3 and 4, where the question is about an organization."""
    person_suffices = Audience.PERSON in (facts.audiences or ())
    if facts.tenant_id is None or facts.membership_id is None:
        if asked is None and (person_suffices or facts.permission_status is None):
            return None
        return Outcome("no_membership", _ASK_OWNER)
    if facts.membership_status != "active":
        if asked is None and person_suffices:
            return None
        return Outcome("membership_inactive", _ASK_OWNER)
    if facts.tenant_status == "suspended" and not facts.while_suspended:
        return Outcome("tenant_suspended", _CONTACT)
    return None


def _held(facts: Facts, asked: UUID | None, policy: Policy, now: datetime) -> Outcome:
    """Stages 5 and 6: the permission is held, and no policy forbids."""
    if facts.permission_status != "active":
        return Outcome("permission_missing")
    held_as = _held_as(facts, asked)
    if held_as is None:
        roles = list(facts.roles or ())
        return Outcome("permission_missing", {"kind": "ask_role", "roles": roles})
    verdict = policy(context(facts, now))
    if not verdict.allowed:
        return Outcome(verdict.reason, {"kind": "policy", "reason": verdict.reason})
    return Outcome("allowed", None, held_as)


def _held_as(facts: Facts, asked: UUID | None) -> HeldAs | None:
    audiences = facts.audiences or ()
    if Audience.TENANT in audiences and facts.by_role and facts.membership_status == "active":
        return HeldAs.TENANT
    if Audience.PERSON in audiences:
        return HeldAs.PERSON
    return None


def context(facts: Facts, now: datetime) -> dict[str, Any]:
    """What the policies see; every attribute is always there (IDN-31)."""
    proven = facts.proven_at or now
    return {
        "permission": "",
        "domain": facts.domain or "",
        "effect": facts.effect or Effect.WRITE.value,
        "sensitivity": facts.sensitivity or "",
        "sessionKind": facts.session_kind or "interactive",
        "assurance": facts.assurance or "aal1",
        "proofAge": max(0, int((now - proven).total_seconds())),
        "mfaNeeded": False,
        "networkAllowed": True,
        "methodAllowed": True,
        "agent": False,
        "agents": facts.agents or "never",
        "amountMinor": -1,
        "minuteOfDay": now.hour * 60 + now.minute,
        "weekday": now.isoweekday(),
        "organizationId": str(facts.tenant_id or ""),
        "held": True,
    }
