"""Stage 5: by which audience a permission is held, and on what (IDN-25, IDN-26)."""

from collections.abc import Sequence
from dataclasses import dataclass

from thenga.domains.identity.services.decisions._facts import Facts, Question
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.declare.permission import Audience

MOST_PLACES = 200


@dataclass(frozen=True, slots=True)
class Holding:
    """Held by an audience, perhaps on some resources only; or why it is not."""

    held_as: HeldAs | None
    missing: str = ""
    limit_to: tuple[str, ...] = ()


_AS = {audience: Holding(audience) for audience in HeldAs}
_PERMISSION_MISSING = Holding(None, "permission_missing")


def by_platform(facts: Facts) -> bool:
    return facts.by_platform and Audience.PLATFORM in (facts.audiences or ())


def holding(facts: Facts, question: Question) -> Holding:
    """What staff hold comes first, then what a member holds, then what everybody has of their own.

    Staff act by their own roles, whatever organization they are in (IDN-18). A deny of an
    organization takes away what its members have there, never what is their own.
    """
    if facts.permission_status != "active":
        return _PERMISSION_MISSING
    audiences = facts.audiences or ()
    if facts.kind == "service":
        return _AS[HeldAs.SERVICE] if Audience.SERVICE in audiences else _PERMISSION_MISSING
    if facts.kind == "api_key":
        held = facts.key_holds and _is_for_keys(facts, audiences)
        return _AS[HeldAs.TENANT] if held else Holding(None, "key_scope_missing")
    if by_platform(facts):
        return _AS[HeldAs.PLATFORM]
    in_tenant = _PERMISSION_MISSING
    if Audience.TENANT in audiences and facts.membership_status == "active":
        in_tenant = _of_member(facts, question)
        if in_tenant.held_as is not None:
            return in_tenant
    if Audience.PERSON in audiences:
        return _AS[HeldAs.PERSON]
    return in_tenant


def _is_for_keys(facts: Facts, audiences: Sequence[str]) -> bool:
    """What only a sandbox's keys can have, a live key has not, whatever its scopes say (IDN-40)."""
    if Audience.TENANT in audiences:
        return True
    return Audience.SANDBOX in audiences and bool(facts.sandbox)


def _of_member(facts: Facts, question: Question) -> Holding:
    if facts.by_owner:
        return _AS[HeldAs.TENANT]  # no deny takes anything from an owner (SEC-57)
    if facts.denied or _is_denied_there(facts, question):
        return Holding(None, "permission_denied")
    if facts.by_role:
        return _AS[HeldAs.TENANT]
    if facts.held_in:
        return _on_some(facts, question, facts.held_in)
    return _PERMISSION_MISSING if facts.any_role else Holding(None, "role_missing")


def _is_denied_there(facts: Facts, question: Question) -> bool:
    """A deny on one resource counts unless the question is surely about another one."""
    if not facts.denied_in:
        return False
    return question.resource_id is None or not question.places.isdisjoint(facts.denied_in)


def _on_some(facts: Facts, question: Question, held_in: list[str]) -> Holding:
    """Held on some resources only: on the one asked, or where the route keeps to them itself."""
    if question.resource_id is not None:
        inside = not question.places.isdisjoint(held_in)
        return Holding(HeldAs.TENANT) if inside else Holding(None, "scope_missing")
    declared = facts.scopes or ()
    kept = sorted({place for place in held_in if place.rpartition("/")[0] in declared})
    if not kept:
        return Holding(None, "scope_missing")
    return Holding(HeldAs.TENANT, limit_to=tuple(kept[:MOST_PLACES]))
