"""Conditions under which a requirement applies: a closed grammar in three values (CMP-4).

A condition is `{}` (always), `{"all": [...]}`, `{"any": [...]}`, `{"not": {...}}` or a comparison
such as `{"fact": "employeeCount", "gt": 0}`. What nobody has stated is unknown: neither true nor
false, unless the rest decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Condition = Mapping[str, Any]
MOST_DEPTH = 4
_SUBJECTS = ("fact", "answer", "sphere", "tender")
_OPERATORS = ("is", "in", "gt", "gte", "exists")
_JOINED = ("all", "any")
_TENDER_FIELDS = ("category", "sphere", "asks")


class ConditionInvalid(ValueError):
    """A condition that the grammar does not know; the text says where."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a company and, where one is evaluated, of a tender.

    A fact that is missing from `facts` is unknown; one that is None is stated to be absent. A
    `tender` of None means that no tender is evaluated, so nothing of a tender holds.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, bool] = field(default_factory=dict)
    spheres: Sequence[str] = ()
    tender: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """One comparison and how it came out; None is unknown."""

    subject: str
    name: str
    outcome: bool | None


def check(condition: Condition, *, depth: int = 1, at: str = "appliesWhen") -> None:
    """Refuse what the grammar does not know."""
    if depth > MOST_DEPTH:
        raise ConditionInvalid(f"{at} is nested deeper than {MOST_DEPTH} levels.")
    if not isinstance(condition, Mapping):
        raise ConditionInvalid(f"{at} is not an object.")
    if not condition and depth == 1:
        return
    names = set(condition)
    if len(names) == 1 and (joined := next(iter(names))) in _JOINED:
        parts = condition[joined]
        if not isinstance(parts, list) or not 1 <= len(parts) <= 20:
            raise ConditionInvalid(f"{at}.{joined} needs 1 to 20 conditions.")
        for place, part in enumerate(parts):
            check(part, depth=depth + 1, at=f"{at}.{joined}[{place}]")
        return
    if names == {"not"}:
        check(condition["not"], depth=depth + 1, at=f"{at}.not")
        return
    _check_comparison(condition, names, at)


def _check_comparison(condition: Condition, names: set[str], at: str) -> None:
    subjects, operators = names & set(_SUBJECTS), names & set(_OPERATORS)
    if len(subjects) != 1 or len(operators) != 1 or len(names) != 2:
        raise ConditionInvalid(
            f"{at} must have all, any, not, or one of {', '.join(_SUBJECTS)} with one of "
            f"{', '.join(_OPERATORS)}."
        )
    subject, operator = subjects.pop(), operators.pop()
    if not isinstance(condition[subject], str):
        raise ConditionInvalid(f"{at}.{subject} must be a name.")
    if subject == "tender" and condition[subject] not in _TENDER_FIELDS:
        raise ConditionInvalid(f"{at}.tender must be one of {', '.join(_TENDER_FIELDS)}.")
    value = condition[operator]
    if operator == "in" and not (isinstance(value, list) and value):
        raise ConditionInvalid(f"{at}.in must be a list of values.")
    if operator in ("gt", "gte") and (isinstance(value, bool) or not isinstance(value, int)):
        raise ConditionInvalid(f"{at}.{operator} must be a whole number.")
    if operator in ("is", "in") and not all(
        isinstance(one, str | int | bool) for one in (value if operator == "in" else [value])
    ):
        raise ConditionInvalid(f"{at}.{operator} can contain only text, numbers, true or false.")
    if operator == "exists" and not isinstance(value, bool):
        raise ConditionInvalid(f"{at}.exists must be true or false.")


def names_of(condition: Condition, subject: str) -> set[str]:
    """The names that a condition compares: all its facts, or all its answers."""
    if subject in condition:
        return {str(condition[subject])}
    parts = [*condition.get("all", ()), *condition.get("any", ())]
    if "not" in condition:
        parts.append(condition["not"])
    return {name for part in parts for name in names_of(part, subject)}


def evaluate(condition: Condition, known: Known, cited: list[Cited] | None = None) -> bool | None:
    """True, false, or None for unknown; `cited` gets each comparison that was made."""
    if not condition:
        return True
    if "all" in condition:
        return _every([evaluate(part, known, cited) for part in condition["all"]])
    if "any" in condition:
        return _some([evaluate(part, known, cited) for part in condition["any"]])
    if "not" in condition:
        inner = evaluate(condition["not"], known, cited)
        return None if inner is None else not inner
    subject = next(name for name in _SUBJECTS if name in condition)
    operator = next(name for name in _OPERATORS if name in condition)
    outcome = _compared(subject, condition[subject], operator, condition[operator], known)
    if cited is not None:
        cited.append(Cited(subject, condition[subject], outcome))
    return outcome


def _every(outcomes: Sequence[bool | None]) -> bool | None:
    if False in outcomes:
        return False
    return None if None in outcomes else True


def _some(outcomes: Sequence[bool | None]) -> bool | None:
    if True in outcomes:
        return True
    return None if None in outcomes else False


def _compared(subject: str, name: str, operator: str, value: Any, known: Known) -> bool | None:
    if subject == "sphere":
        return (name in known.spheres) == (bool(value) if operator in ("is", "exists") else True)
    if subject == "tender" and known.tender is None:
        return False
    held: Mapping[str, Any] = {
        "fact": known.facts,
        "answer": known.answers,
        "tender": known.tender or {},
    }[subject]
    if name not in held:
        return None
    return _holds(held[name], operator, value)


def _holds(found: Any, operator: str, value: Any) -> bool:
    if operator == "exists":
        return (found is not None) is bool(value)
    if isinstance(found, list):
        wanted = value if operator == "in" else [value]
        return any(one in wanted for one in found)
    if operator == "in":
        return found in value
    if operator == "is":
        return bool(found == value)
    if found is None:
        return False
    return bool(found > value) if operator == "gt" else bool(found >= value)
