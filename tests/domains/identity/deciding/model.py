"""The reference model of IDN-29: the same table, written apart from the code that it judges.

A world is a plain dictionary of what is true; `decide` says reason, by whom it is held, and the
kinds of obligations. It imports nothing of ours.
"""

from typing import Any

World = dict[str, Any]
TYPES = {"x": "bid.workspace", "y": "bid.workspace", "z": "contract.plan"}  # of each resource


def credential(w: World) -> str | None:
    if w["actor"] == "service":
        return None
    if w["actor"] == "key":
        if w["key"] == "revoked":
            return "key_rotated" if w["key_cause"] == "rotated" else "key_revoked"
        if w["key"] == "expired" or w["key_over"]:
            return "key_expired"
        return "key_rotated" if w["key"] == "rotating" and w["grace_over"] else None
    if w["session"] == "not_there":
        return None  # done later for somebody who is away
    if w["session"] == "unknown":
        return "unknown_credential"
    if w["session"] in ("revoked", "signed_out"):
        return "session_revoked"
    if w["session"] == "expired" or w["session_over"] or w["idle_over"]:
        return "session_expired"
    return "token_expired" if w["token_over"] else None


def account(w: World) -> str | None:
    if w["actor"] != "person":
        return None
    if w["account"] != "active":
        return "account_disabled"
    half_way = w["session"] == "pending_mfa" and not w["half"]
    return "mfa_pending" if half_way else None


def acts_as_staff(w: World) -> bool:
    return w["actor"] == "person" and w["platform_role"] and "platform" in w["audiences"]


def own_rows_suffice(w: World) -> bool:
    """Nobody named an organization, and everybody has this over their own rows."""
    return not w["named"] and "person" in w["audiences"]


def tenant(w: World) -> str | None:
    if w["actor"] == "key":
        return None if w["tenant"] else "no_membership"
    if w["actor"] == "service" or acts_as_staff(w):
        return "no_membership" if w["named"] and not w["tenant"] else None
    if not w["tenant"] or w["membership"] is None:
        if own_rows_suffice(w) or (not w["named"] and w["permission"] is None):
            return None
        return "no_membership"
    if w["membership"] != "active" and not own_rows_suffice(w):
        return "membership_inactive"
    return None


def is_inside(w: World) -> bool:
    """Whether the organization's own state can stand in the way."""
    if not w["tenant"] or acts_as_staff(w):
        return False
    return w["actor"] != "person" or w["membership"] == "active"


def tenant_state(w: World) -> str | None:
    if not is_inside(w):
        return None
    if w["tenant_state"] in ("suspended", "closed") and not w["while_suspended"]:
        return "tenant_suspended"
    return "tenant_restricted" if w["switched_off"] and w["effect"] == "write" else None


def member_lacks(w: World) -> str | None:
    """Why an active member does not hold it in the organization; None where it is held."""
    if w["owner"]:
        return None  # whatever is denied (SEC-57)
    here = {w["resource"], *w["under"]} if w["resource"] else None
    if w["deny"]:
        return "permission_denied"
    if w["denied_on"] and (here is None or here & set(w["denied_on"])):
        return "permission_denied"
    if w["held"]:
        return None
    if w["held_on"]:
        if here is not None:
            return None if here & set(w["held_on"]) else "scope_missing"
        declared = any(TYPES[place] in w["declared"] for place in w["held_on"])
        return None if declared else "scope_missing"
    return "permission_missing" if w["any_role"] else "role_missing"


def holding(w: World) -> tuple[str | None, str]:
    """By which audience it is held, or why it is not."""
    if w["permission"] != "active":
        return None, "permission_missing"
    if w["actor"] == "service":
        return ("service", "") if "service" in w["audiences"] else (None, "permission_missing")
    if w["actor"] == "key":
        played = "sandbox" in w["audiences"] and w["sandbox"] and w["tenant"]
        fits = w["key_scope"] and ("tenant" in w["audiences"] or played)
        return ("tenant", "") if fits else (None, "key_scope_missing")
    if acts_as_staff(w):
        return "platform", ""
    lacking = "permission_missing"
    if "tenant" in w["audiences"] and w["membership"] == "active" and w["tenant"]:
        found = member_lacks(w)
        if found is None:
            return "tenant", ""
        lacking = found
    return ("person", "") if "person" in w["audiences"] else (None, lacking)


def permission(w: World) -> str | None:
    if w["people_only"] and w["permission"] == "active" and (w["actor"] != "person" or w["agent"]):
        return "person_required"
    held_as, lacking = holding(w)
    return None if held_as else lacking


def absent(w: World) -> bool:
    """Somebody for whom something is done later, as they planned it."""
    away = w["actor"] == "person" and w["session"] == "not_there"
    return away and w["channel"] in ("job", "reaction")


def policy(w: World) -> str | None:
    if w["policy"] == "erring":
        return "policy_error"
    second = w["mfa_needed"] or (w["staff"] and holding(w)[0] != "person")
    proved = absent(w) or (w["aal2"] and w["session"] != "not_there")
    if w["actor"] == "person" and second and not proved:
        return "mfa_enrolment_required"
    if not w["network"]:
        return "network_not_allowed"
    if not w["method"]:
        return "method_not_allowed"
    if w["agent"] and w["agents"] == "never":
        return "agent_not_allowed"
    return "policy_denied" if w["policy"] == "strict" and w["amount"] > 500_000_00 else None


def entitlement(w: World) -> str | None:
    if not w["feature"] or holding(w)[0] not in ("tenant", "service"):
        return None
    if holding(w)[0] == "service" and not w["tenant"]:
        return "entitlement_unknown"
    asks_live = w["sensitivity"] in ("money", "administration")
    fresh = not asks_live and w["signal_age"] is not None and w["signal_age"] <= 60
    if fresh and by_signal(w, w["signal"]) is None:
        return None
    # What is not fresh, and every no, is asked for.
    if w["billing"] == "answers":
        return by_signal(w, w["live"])
    if asks_live or w["signal_age"] is None or w["signal_age"] > 300:
        return "entitlement_unknown"
    return by_signal(w, w["signal"])


def by_signal(w: World, said: tuple[str, bool]) -> str | None:
    access, used_up = said
    if w["while_suspended"]:
        return None
    if access == "read_only":
        return None if w["effect"] == "read" else "read_only"
    if access == "none":
        return "entitlement_missing"
    return "limit_reached" if used_up and w["effect"] == "write" else None


def proof(w: World) -> str | None:
    if w["actor"] == "service":
        return None
    away = w["actor"] == "person" and w["session"] == "not_there"
    if absent(w):
        return None
    fresh = w["actor"] == "person" and not away and w["proof_age"] <= 300
    if w["sensitivity"] in ("sensitive", "administration") and not fresh:
        return "step_up_required"
    long_ago = w["actor"] == "person" and not away and w["signed_in_too_long"]
    return "step_up_required" if long_ago else None


TABLE = (
    credential, account, tenant, tenant_state, permission, policy, entitlement, proof,
)  # fmt: skip


def decide(w: World) -> tuple[str, str | None, tuple[str, ...]]:
    """Reason, held as, and what must be kept to."""
    for test in TABLE:
        reason = test(w)
        if reason is not None:
            return reason, None, ()
    held_as = holding(w)[0]
    whole = w["held"] or w["owner"] or w["resource"]
    duties = ("limit_to",) * (w["actor"] == "person" and held_as == "tenant" and not whole)
    approval = w["agent"] and w["agents"] == "with_approval"
    return "allowed", held_as, duties + ("approval",) * approval
