"""The stages of IDN-29: the first that fails names the reason and what would help.

A pure function of the facts and the question; the reference model of the tests has the same table.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from thenga.domains.identity.services.decisions import policies
from thenga.domains.identity.services.decisions._entitled import entitled
from thenga.domains.identity.services.decisions._facts import Facts, Question
from thenga.domains.identity.services.decisions._holding import Holding, by_platform, holding
from thenga.domains.identity.services.decisions._outcome import Outcome
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db import step_up
from thenga.kernel.declare.permission import Audience, Effect, Sensitivity

_SIGN_IN = {"kind": "sign_in"}
_REFRESH = {"kind": "refresh"}
_CONTACT = {"kind": "contact"}
_ASK_OWNER = {"kind": "ask_owner"}
_NEW_KEY = {"kind": "new_key"}
_ASK_PERSON = {"kind": "ask_person"}
_LOCAL = ZoneInfo("Africa/Johannesburg")

Policy = Callable[[dict[str, Any]], policies.Verdict]
Stage = Callable[[Facts, Question, datetime, Policy], Outcome | None]


def decide(facts: Facts, question: Question, *, now: datetime, policy: Policy) -> Outcome:
    """May this actor use this permission here and now; `now` is the base clock."""
    for _, stage in STAGES:
        failed = stage(facts, question, now, policy)
        if failed is not None:
            return failed
    held = holding(facts, question)
    return Outcome("allowed", None, held.held_as, _obligations(facts, question, held))


def _credential(facts: Facts, question: Question, now: datetime, policy: Policy) -> Outcome | None:
    if facts.kind == "service":
        return None
    if facts.kind == "api_key":
        return _key(facts, now + (facts.ahead or timedelta(0)))
    if facts.session_id is None and facts.user_status is not None:
        return None  # a later act for somebody who is not there (IDN-34)
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


def _key(facts: Facts, now: datetime) -> Outcome | None:
    """A key's time is its organization's; a successor and an end each have their code (IDN-41)."""
    if facts.key_status == "revoked":
        return Outcome("key_rotated" if facts.key_code == "rotated" else "key_revoked", _NEW_KEY)
    if facts.key_status == "expired" or facts.key_expires_at is None or now >= facts.key_expires_at:
        return Outcome("key_expired", _NEW_KEY)
    over = facts.key_grace_ends_at is not None and now >= facts.key_grace_ends_at
    if facts.key_status == "rotating" and over:
        return Outcome("key_rotated", _NEW_KEY)
    return None


def _account(facts: Facts, question: Question, now: datetime, policy: Policy) -> Outcome | None:
    if facts.kind != "user":
        return None
    if facts.user_status != "active":
        return Outcome("account_disabled", _CONTACT)
    if facts.session_status == "pending_mfa" and not facts.half:
        return Outcome("mfa_pending", {"kind": "prove", "methods": list(proof_methods(facts))})
    return None


def _tenant(facts: Facts, question: Question, now: datetime, policy: Policy) -> Outcome | None:
    asked = question.organization_id
    if facts.kind == "api_key" and facts.tenant_id is None:
        return Outcome("no_membership", _ASK_OWNER)
    if facts.kind != "user" or by_platform(facts):
        # A service and staff act in any organization, if it exists, and belong to none.
        unknown = asked is not None and facts.tenant_id is None
        return Outcome("no_membership", _ASK_OWNER) if unknown else None
    person_suffices = Audience.PERSON in (facts.audiences or ())
    if facts.tenant_id is None or facts.membership_id is None:
        if asked is None and (person_suffices or facts.permission_status is None):
            return None
        return Outcome("no_membership", _ASK_OWNER)
    if facts.membership_status != "active" and not (asked is None and person_suffices):
        return Outcome("membership_inactive", _ASK_OWNER)
    return None


def _tenant_state(
    facts: Facts, question: Question, now: datetime, policy: Policy
) -> Outcome | None:
    if facts.tenant_id is None or by_platform(facts):
        return None
    if facts.kind == "user" and facts.membership_status != "active":
        return None  # the person acts for itself
    if facts.tenant_status in ("suspended", "closed") and not facts.while_suspended:
        return Outcome("tenant_suspended", _CONTACT)
    if facts.effect == Effect.WRITE and any(
        facts.permission == off or facts.permission.startswith(f"{off}:")
        for off in facts.capabilities_off or ()
    ):
        return Outcome("tenant_restricted", _CONTACT)
    return None


def _permission(facts: Facts, question: Question, now: datetime, policy: Policy) -> Outcome | None:
    if facts.people_only and facts.permission_status == "active" and _is_machine(facts, question):
        return Outcome("person_required", _ASK_PERSON)
    held = holding(facts, question)
    if held.held_as is not None:
        return None
    roles = list(facts.roles or ())
    helps = {"kind": "ask_role", "roles": roles} if roles else None
    return Outcome(held.missing, helps)


def _is_machine(facts: Facts, question: Question) -> bool:
    """Whether no person asks: a key, a service, or an agent in a person's name."""
    return facts.kind != "user" or question.agent


def _policy(facts: Facts, question: Question, now: datetime, policy: Policy) -> Outcome | None:
    verdict = policy(context(facts, question, now))
    if verdict.allowed:
        return None
    if verdict.reason == "mfa_enrolment_required":
        return Outcome(verdict.reason, {"kind": "enrol_factor"})
    return Outcome(verdict.reason, {"kind": "policy", "reason": verdict.text})


def _entitlement(facts: Facts, question: Question, now: datetime, policy: Policy) -> Outcome | None:
    held_as = holding(facts, question).held_as
    if facts.feature is None or held_as not in (HeldAs.TENANT, HeldAs.SERVICE):
        return None  # permissions without a feature never ask
    return entitled(facts, now)


def _proof(facts: Facts, question: Question, now: datetime, policy: Policy) -> Outcome | None:
    """What is grave asks for a fresh proof, which keys cannot give (IDN-15)."""
    if facts.kind == "service":
        return None
    if _is_absent(facts, question):
        return None
    stale = facts.sensitivity in _GRAVE and not step_up.is_fresh(facts.proven_at, now)
    if not stale and not _signed_in_too_long(facts, now):
        return None
    seconds = int(step_up.MAX_AGE.total_seconds())
    methods = list(proof_methods(facts))
    prove = {"kind": "prove", "maxAgeSeconds": seconds, "methods": methods}
    return Outcome("step_up_required", prove)


def _is_absent(facts: Facts, question: Question) -> bool:
    """Whoever planned a later act proved it then, and is not there now (IDN-34)."""
    away = facts.kind == "user" and facts.session_id is None
    return away and question.channel in ("job", "reaction")


_GRAVE = (Sensitivity.SENSITIVE, Sensitivity.ADMINISTRATION)


def _signed_in_too_long(facts: Facts, now: datetime) -> bool:
    longest, since = facts.max_sign_in_age, facts.authenticated_at
    if longest is None or since is None:
        return False
    proven = since if facts.proven_at is None else max(since, facts.proven_at)
    return now - proven > longest


STAGES: tuple[tuple[str, Stage], ...] = (
    ("credential", _credential),
    ("account", _account),
    ("tenant", _tenant),
    ("tenant_state", _tenant_state),
    ("permission", _permission),
    ("policy", _policy),
    ("entitlement", _entitlement),
    ("proof", _proof),
)


def proof_methods(facts: Facts) -> tuple[str, ...]:
    """By what this person can prove again who they are."""
    if facts.kind != "user":
        return ()
    kinds = facts.factor_kinds or ()
    return tuple(kinds) if {"totp", "passkey"} & set(kinds) else ("password",)


def _obligations(facts: Facts, question: Question, held: Holding) -> tuple[dict[str, Any], ...]:
    """What whoever is let in must keep to."""
    found: list[dict[str, Any]] = []
    if held.limit_to:
        found.append({"type": "limit_to", "resources": list(held.limit_to)})
    if question.agent and facts.agents == "with_approval":
        found.append({"type": "approval"})
    return tuple(found)


_SESSION_KINDS = {"api_key": "key", "service": "service"}


def context(facts: Facts, question: Question, now: datetime) -> dict[str, Any]:
    """What the policies see; every attribute is always there (IDN-31)."""
    proven = facts.proven_at
    held_as = holding(facts, question).held_as
    local = now.astimezone(_LOCAL)
    # Staff need a second factor for whatever is not their own (IDN-18).
    staff_acts = bool(facts.staff) and held_as is not HeldAs.PERSON
    present = facts.kind == "user" and not _is_absent(facts, question)
    return {
        "permission": facts.permission,
        "domain": facts.domain or "",
        "effect": facts.effect or Effect.WRITE.value,
        "sensitivity": facts.sensitivity or "",
        "sessionKind": _SESSION_KINDS.get(facts.kind) or facts.session_kind or "interactive",
        "assurance": facts.assurance or "aal1",
        "proofAge": -1 if proven is None else max(0, int((now - proven).total_seconds())),
        "mfaNeeded": present and (staff_acts or facts.mfa_needed),
        "networkAllowed": facts.network_allowed,
        "methodAllowed": facts.method_allowed,
        "agent": question.agent,
        "agents": facts.agents or "never",
        "amountMinor": question.amount,
        "minuteOfDay": local.hour * 60 + local.minute,
        "weekday": local.isoweekday(),
        "organizationId": str(facts.tenant_id or ""),
        "resourceType": question.resource_type,
        "held": held_as is not None,
    }
