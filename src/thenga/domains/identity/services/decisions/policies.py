"""Cedar: one parsed policy set a version, decided by a flat context (IDN-31)."""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cedarpy

BASE = (Path(__file__).parents[2] / "content" / "base.cedar").read_text()
_MOST_VERDICTS = 4096
_ACTION = 'Action::"use"'
_NO_ENTITIES = cedarpy.Entities.from_json_str("[]")


@dataclass(frozen=True)
class Verdict:
    """What the policies say; `reason` is the `@reason` of the policy that forbade."""

    allowed: bool
    reason: str
    text: str | None = None  # what the policy itself says, where it is not one of ours


@dataclass(frozen=True)
class Parsed:
    """A policy set that was parsed once and is kept by its label.

    A verdict is a pure function of the set and of the attributes its policies name. All of them
    are read anew for every decision; only the arithmetic on equal inputs is not done twice, so
    nothing that can be revoked is remembered.
    """

    policies: Any
    reasons: dict[str, str]
    named: tuple[str, ...] | None  # None where a policy looks at who or what itself
    verdicts: dict[tuple[Any, ...], Verdict] = field(default_factory=dict)


_PARSED: dict[str, Parsed] = {}


def label_of(text: str) -> str:
    """The version of a policy set: the first half of its digest."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def parsed(label: str, text: str) -> Parsed:
    """The set of a version; another version than the one known is parsed before it decides."""
    known = _PARSED.get(label)
    if known is None:
        policies = cedarpy.PolicySet.from_str(text)
        known = _PARSED[label] = Parsed(policies, _reasons(text), _attributes(text))
    return known


def is_parsed(label: str) -> bool:
    return label in _PARSED


def decide(
    label: str, text: str, *, principal: str, resource: str, context: dict[str, Any]
) -> Verdict:
    """Permit only where a policy permits, none forbids and none errs."""
    policies = parsed(label, text)
    if policies.named is None:
        return _judged(policies, principal, resource, context)
    key = tuple(context.get(name) for name in policies.named)
    verdict = policies.verdicts.get(key)
    if verdict is None:
        if len(policies.verdicts) >= _MOST_VERDICTS:
            policies.verdicts.clear()
        verdict = policies.verdicts[key] = _judged(policies, principal, resource, context)
    return verdict


def _judged(policies: Parsed, principal: str, resource: str, context: dict[str, Any]) -> Verdict:
    request = {
        "principal": principal,
        "action": _ACTION,
        "resource": resource,
        "context": context,
    }
    answer = cedarpy.is_authorized(request, policies.policies, _NO_ENTITIES)
    # Cedar skips a policy that errs, so an erring forbid would allow: any error denies.
    if answer.diagnostics.errors:
        return Verdict(False, "policy_error")
    if answer.decision is cedarpy.Decision.Allow:
        return Verdict(True, "allowed")
    named = list(answer.diagnostics.id_annotations_by_reason.values())
    reasons = [policies.reasons[name] for name in named if name in policies.reasons]
    ours = [reason for reason in OURS if reason in reasons]
    if ours:
        return Verdict(False, ours[0], ours[0])
    return Verdict(False, "policy_denied", min(reasons, default=None))


# The reasons of the base policies, the first of which is told (IDN-29); others are told as text.
OURS = (
    "mfa_enrolment_required",
    "network_not_allowed",
    "method_not_allowed",
    "support_limited",
    "agent_not_allowed",
)


def _attributes(text: str) -> tuple[str, ...] | None:
    """The context attributes that a set names; None where it also looks at ids or hierarchies."""
    code = re.sub(r"//[^\n]*", "", text)
    if re.search(r"(principal|resource)\s*(==|!=|\.|\bin\b|\bhas\b)", code):
        return None
    return tuple(sorted(set(re.findall(r"context\.(\w+)", code))))


def _reasons(text: str) -> dict[str, str]:
    """`@id` → `@reason`, read from the lines of the set."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith('@id("'):
            name = line[5:-2]
        elif line.startswith('@reason("'):
            found[name] = line[9:-2]
    return found
