"""Random worlds, and what each looks like to the code: facts and a question."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.domains.identity.deciding.model import TYPES, World
from thenga.domains.identity.services.decisions import Facts, Outcome, Question, decide, policies
from thenga.domains.identity.services.decisions._entitled import ASK

NOW = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)
SOON, PAST = NOW + timedelta(days=1), NOW - timedelta(seconds=1)
TENANT, USER, KEY, SESSION, MEMBER = (UUID(int=n) for n in range(1, 6))
CODE = "bid:workspace:change"
_PLACES = ((), (), ("x",), ("z",), ("x", "z"))

CHOICES: dict[str, tuple[Any, ...]] = {
    "actor": ("person", "person", "person", "key", "service"),
    "session": (
        *("active", "active", "pending_mfa", "revoked", "signed_out", "expired"),
        *("unknown", "not_there"),
    ),
    "session_over": (False, True),
    "idle_over": (False, True),
    "token_over": (False, True),
    "account": ("active", "disabled", "pending_verification", "erased"),
    "staff": (False, True),
    "aal2": (True, False),
    "key": ("active", "rotating", "revoked", "expired"),
    "key_cause": ("rotated", "revoked"),
    "key_over": (False, True),
    "grace_over": (False, True),
    "key_scope": (True, False),
    "network": (True, False),
    "method": (True, False),
    "mfa_needed": (False, True),
    "signed_in_too_long": (False, True),
    "named": (True, False),
    "tenant": (True, False),
    "sandbox": (False, True),
    "tenant_state": ("active", "restricted", "suspended", "closed"),
    "switched_off": (False, True),
    "membership": ("active", "inactive", "pending", None),
    "permission": ("active", "deprecated", None),
    "audiences": (
        *(("tenant",), ("person",), ("platform",), ("service",), ("person", "tenant")),
        *(("tenant", "platform"), ("person", "tenant", "platform"), ("tenant", "service")),
        ("service", "platform", "sandbox"),
    ),
    "effect": ("read", "write"),
    "sensitivity": ("normal", "sensitive", "money", "administration"),
    "feature": (False, True),
    "agents": ("never", "with_approval", "allowed"),
    "people_only": (False, True),
    "while_suspended": (False, True),
    "half": (False, True),
    "any_role": (True, False),
    "held": (True, False),
    "owner": (False, False, True),  # held as an owner of the whole organization
    "deny": (False, True),
    "held_on": _PLACES,
    "denied_on": _PLACES,
    "declared": ((), ("bid.workspace",), ("contract.plan",)),
    "resource": (None, "x", "y", "z"),
    "under": ((), ("x",), ("z",)),
    "platform_role": (False, True),
    "channel": ("http", "job", "reaction", "agent"),
    "agent": (False, True),
    "amount": (-1, 100, 600_000_00),
    "proof_age": (0, 300, 301, 90_000),
    "policy": ("base", "base", "strict", "erring"),
    "billing": ("answers", "silent"),
    "signal_age": (0, 60, 61, 300, 301, None),
    "signal": tuple((a, u) for a in ("full", "grace", "read_only", "none") for u in (False, True)),
    "live": tuple((a, u) for a in ("full", "grace", "read_only", "none") for u in (False, True)),
}
_NAMES = tuple(CHOICES)
GOOD: World = {name: values[0] for name, values in CHOICES.items()}
PROFILES: tuple[World, ...] = (
    GOOD,
    GOOD | {"actor": "key"},
    GOOD | {"actor": "key", "audiences": ("service", "platform", "sandbox"), "sandbox": True},
    GOOD | {"actor": "service", "audiences": ("tenant", "service")},
    GOOD | {"audiences": ("tenant", "platform"), "platform_role": True, "staff": True,
            "membership": None, "held": False},
    GOOD | {"held": False, "held_on": ("x",), "resource": "x"},
    GOOD | {"held": False, "held_on": ("x", "z"), "declared": ("bid.workspace",)},
    GOOD | {"session": "not_there", "channel": "job", "sensitivity": "sensitive"},
    GOOD | {"feature": True, "effect": "write"},
    GOOD | {"feature": True, "effect": "write", "signal": ("full", True)},
    GOOD | {"feature": True, "effect": "write", "signal": ("read_only", False)},
    GOOD | {"feature": True, "signal_age": 301, "billing": "silent"},
    GOOD | {"held": False, "effect": "write"},
    GOOD | {"owner": True, "deny": True, "denied_on": ("x",), "resource": "x"},
    GOOD | {"policy": "strict", "amount": 600_000_00, "sensitivity": "money"},
    GOOD | {"agent": True, "channel": "agent", "agents": "with_approval"},
)  # fmt: skip


def draw(chance: random.Random) -> World:
    """Mostly a world in which nearly all is well, sometimes one in which nothing need be."""
    if chance.random() < 0.1:
        return {name: chance.choice(CHOICES[name]) for name in _NAMES}
    world = dict(chance.choice(PROFILES))
    for _ in range(chance.randrange(6)):
        name = chance.choice(_NAMES)
        world[name] = chance.choice(CHOICES[name])
    return world


def place(name: str) -> str:
    return f"{TYPES[name]}/{name}"


def signal_of(said: tuple[str, bool]) -> dict[str, Any]:
    access, used_up = said
    return {
        "signal_state": "exhausted" if used_up else "granted",
        "signal_access": access,
        "signal_limit": 5 if used_up else None,
        "signal_used": 5 if used_up else None,
    }


def facts_of(w: World) -> Facts:
    """The row that the gate's statement would give in this world."""
    person, key = w["actor"] == "person", w["actor"] == "key"
    there = person and w["session"] not in ("unknown", "not_there")
    member = person and w["tenant"] and w["membership"] is not None
    known = w["permission"] is not None
    rights = member and known
    proven = NOW - timedelta(seconds=w["proof_age"]) if there else None
    signed_in = NOW - timedelta(days=2) if there else None
    longest = None
    if w["signed_in_too_long"]:
        longest = timedelta(seconds=max(0, min(w["proof_age"], 2 * 86_400) - 1))
        longest = timedelta(seconds=-1) if w["proof_age"] == 0 else longest
    checked = None
    if w["signal_age"] is not None and w["tenant"]:
        checked = NOW - timedelta(seconds=w["signal_age"])
    signal = signal_of(w["signal"]) if checked else dict.fromkeys(signal_of(w["signal"]))
    return Facts(
        kind={"person": "user", "key": "api_key", "service": "service"}[w["actor"]],
        user_id=USER if person else None,
        session_id=SESSION if person and w["session"] != "not_there" else None,
        key_id=KEY if key else None,
        token_expires_at=PAST if w["token_over"] else SOON,
        session_status=w["session"] if there else None,
        session_kind="interactive" if there else None,
        assurance=("aal2" if w["aal2"] else "aal1") if there else None,
        methods=["password"] if there else None,
        authenticated_at=signed_in,
        proven_at=proven,
        idle_expires_at=(PAST if w["idle_over"] else SOON) if there else None,
        session_expires_at=(PAST if w["session_over"] else SOON) if there else None,
        user_status=w["account"] if person else None,
        staff=w["staff"] if person else False,
        key_status=w["key"] if key else None,
        key_code=w["key_cause"] if key and w["key"] == "revoked" else None,
        key_expires_at=(PAST if w["key_over"] else SOON) if key else None,
        key_grace_ends_at=(PAST if w["grace_over"] else SOON) if key else None,
        key_holds=key and w["key_scope"],
        network_allowed=w["network"],
        method_allowed=w["method"],
        mfa_needed=w["mfa_needed"],
        max_sign_in_age=longest,
        tenant_id=TENANT if w["tenant"] else None,
        tenant_status=w["tenant_state"] if w["tenant"] else None,
        capabilities_off=(["bid:workspace"] if w["switched_off"] else ["bid:work"]),
        ahead=timedelta(0) if w["tenant"] else None,
        membership_id=MEMBER if member else None,
        membership_status=w["membership"] if member else None,
        permission=CODE,
        domain="bid" if known else None,
        effect=w["effect"],
        audiences=list(w["audiences"]),
        sensitivity=w["sensitivity"],
        feature="bid.workspaces" if w["feature"] else None,
        agents=w["agents"],
        while_suspended=w["while_suspended"],
        roles=["owner"],
        scopes=list(w["declared"]),
        permission_status=w["permission"],
        any_role=rights and w["any_role"],
        by_role=rights and (w["held"] or w["owner"]),
        by_owner=rights and w["owner"],
        denied=rights and w["deny"],
        held_in=[place(one) for one in w["held_on"]] if rights and w["held_on"] else None,
        denied_in=[place(one) for one in w["denied_on"]] if rights and w["denied_on"] else None,
        by_platform=person and w["platform_role"],
        signal_resets_at=None,
        signal_checked_at=checked,
        half=w["half"],
        people_only=w["people_only"],
        sandbox=w["sandbox"] if w["tenant"] else None,
        policy_label=w["policy"],
        billing="not_asked",
        **signal,
    )


def question_of(w: World) -> Question:
    resource = w["resource"]
    return Question(
        organization_id=TENANT if w["named"] else None,
        resource_type="" if resource is None else TYPES[resource],
        resource_id=resource,
        parents=tuple(place(one) for one in w["under"]),
        channel=w["channel"],
        agent=w["agent"],
        amount=w["amount"],
    )


_STRICT = """
@id("x.large-amounts")
@reason("Above R500 000.00 somebody else approves.")
forbid (principal, action, resource) when { context.amountMinor > 50000000 };
"""
_ERRING = '\n@id("x.errs")\n@reason("x")\nforbid (principal, action, resource) '
_ERRING += "when { context.nothingOfThisName };\n"
_TEXTS = {
    "base": policies.BASE,
    "strict": policies.BASE + _STRICT,
    "erring": policies.BASE + _ERRING,
}


def verdict_of(name: str) -> Any:
    text = _TEXTS[name]
    label = policies.label_of(text)

    def judge(context: dict[str, Any]) -> policies.Verdict:
        return policies.decide(
            label, text, principal='Person::"1"', resource='Item::"1"', context=context
        )

    return judge


_POLICIES = {name: verdict_of(name) for name in _TEXTS}


def told(outcome: Outcome) -> tuple[str, str | None, tuple[str, ...]]:
    """An outcome in the words of the model."""
    held_as = None if outcome.held_as is None else outcome.held_as.value
    return outcome.reason, held_as, tuple(one["type"] for one in outcome.obligations)


def produced(w: World) -> tuple[str, str | None, tuple[str, ...]]:
    """What the code decides, Billing asked in between as the gate does."""
    facts, question, policy = facts_of(w), question_of(w), _POLICIES[w["policy"]]
    outcome = decide(facts, question, now=NOW, policy=policy)
    if outcome is ASK:
        outcome = decide(heard(facts, w), question, now=NOW, policy=policy)
    return told(outcome)


def heard(facts: Facts, w: World) -> Facts:
    """The facts after Billing was asked."""
    values = {name: getattr(facts, name) for name in Facts.__slots__}
    if w["billing"] == "silent" or facts.tenant_id is None:
        return Facts(**values | {"billing": "silent"})
    return Facts(
        **values | {"billing": "answered", "signal_checked_at": NOW} | signal_of(w["live"])
    )
