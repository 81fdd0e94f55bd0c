"""What must hold inside a criterion beyond its shape (OPP-26). Values in, refusal out."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from thenga.kernel.errors import Problem, extensions

_MOST_POINTS = {"points8020": Decimal(20), "points9010": Decimal(10)}
_ASKED = {"points8020": ("80_20", "either"), "points9010": ("90_10", "either")}


class CriterionInvalid(Problem):
    """The values of this criterion contradict each other. Correct what `detail` names: the points
    of functionality must add up to the maximum, and goals have at most 20 or 10 points."""

    code, status, title = "opportunity-criterion-invalid", 422, "This criterion is not consistent"
    members = extensions(rule=(str, "Rule that the criterion breaks."))


def check_criterion(criterion: Mapping[str, Any]) -> None:
    """Refuse a criterion whose numbers contradict each other."""
    match criterion["kind"]:
        case "functionality":
            _check_functionality(criterion)
        case "preference":
            _check_preference(criterion)
        case "place":
            if not criterion["provinces"] and not criterion["municipalities"]:
                raise CriterionInvalid("Name a province or a municipality.", rule="place_named")


def _check_functionality(criterion: Mapping[str, Any]) -> None:
    parts, most = criterion["parts"], Decimal(criterion["maxPoints"])
    _check_unique([part["key"] for part in parts])
    total = sum((Decimal(part["points"]) for part in parts), Decimal(0))
    if total != most:
        told = f"The parts add up to {total} points, but `maxPoints` is {most}."
        raise CriterionInvalid(told, rule="points_sum")
    if Decimal(criterion["thresholdPoints"]) > most:
        told = f"The threshold is above the maximum of {most} points."
        raise CriterionInvalid(told, rule="threshold")


def _check_preference(criterion: Mapping[str, Any]) -> None:
    goals = criterion["goals"]
    _check_unique([goal["key"] for goal in goals])
    for name, most in _MOST_POINTS.items():
        given = [Decimal(goal[name]) for goal in goals if goal[name] is not None]
        if given and criterion["system"] not in _ASKED[name]:
            told = f"{name} does not belong to the system {criterion['system']}."
            raise CriterionInvalid(told, rule="points_system")
        if sum(given, Decimal(0)) > most:
            told = f"The goals have more than {most} points in {name}."
            raise CriterionInvalid(told, rule="points_sum")


def _check_unique(keys: list[str]) -> None:
    if len(set(keys)) < len(keys):
        raise CriterionInvalid(
            "Two parts have the same key. Use a different key for each.", rule="unique_keys"
        )
