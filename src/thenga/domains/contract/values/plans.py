"""A delivery plan as it is given, stored and compared."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Dependency:
    """A milestone begins so many days after another one ends."""

    key: str
    lag_days: int = 0


@dataclass(frozen=True, slots=True)
class PlannedDeliverable:
    """A deliverable of a milestone."""

    key: str
    title: str
    acceptance_criteria: str | None = None
    due_on: date | None = None
    weight: Decimal = Decimal(1)
    required: bool = True


@dataclass(frozen=True, slots=True)
class PlannedMilestone:
    """One milestone of a plan."""

    key: str
    title: str
    value_percent: Decimal
    duration_days: int
    due_on: date
    kind: Literal["delivery", "approval", "reporting", "financing"] = "delivery"
    start_not_before: date | None = None
    calendar: Literal["working", "calendar"] = "working"
    technique: Literal["zero_hundred", "fifty_fifty", "percent_complete"] = "zero_hundred"
    depends_on: tuple[Dependency, ...] = ()
    practical_completion: bool = False
    deliverables: tuple[PlannedDeliverable, ...] = field(default=())


Plan = list[PlannedMilestone]
_PLAN: TypeAdapter[Plan] = TypeAdapter(Plan)


def plan_of_rows(stored: list[dict[str, Any]]) -> Plan:
    """The plan of what `rows_of_plan` has made."""
    return _PLAN.validate_python(stored)


def rows_of_plan(plan: Plan) -> list[dict[str, Any]]:
    """The plan as it is stored."""
    stored: list[dict[str, Any]] = _PLAN.dump_python(plan, mode="json")
    return stored
