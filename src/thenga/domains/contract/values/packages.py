"""The milestones of a package, as they are given and stored."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class PackageMilestone:
    """One milestone of what a supplier delivers to us."""

    key: str
    title: str
    due_on: date
    percent: Decimal
    milestone_id: UUID | None = None
    handover_days: int = 3
    accepted_on: date | None = None
    rejections: int = 0
    invoiced_on: date | None = None
    paid_on: date | None = None

    @property
    def is_billed(self) -> bool:
        """Whether the supplier has invoiced it, or was paid for it."""
        return self.invoiced_on is not None or self.paid_on is not None


_LIST: TypeAdapter[list[PackageMilestone]] = TypeAdapter(list[PackageMilestone])


def package_of_rows(stored: list[dict[str, Any]]) -> list[PackageMilestone]:
    """The milestones of what `rows_of_package` has made."""
    return _LIST.validate_python(stored)


def rows_of_package(milestones: list[PackageMilestone]) -> list[dict[str, Any]]:
    """The milestones as they are stored."""
    stored: list[dict[str, Any]] = _LIST.dump_python(milestones, mode="json")
    return stored
