"""What a variation changes on milestones, as it is given, stored and signed (CON-31)."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class MilestoneChange:
    """A change of one milestone: its amount, its due date, or a new milestone."""

    key: str
    amount_delta: Money | None = None
    due_on: date | None = None
    new_title: str | None = None

    @classmethod
    def of_row(cls, kept: dict[str, Any]) -> "MilestoneChange":
        amount, due = kept.get("amount_delta_minor"), kept.get("due_on")
        return cls(
            kept["key"],
            None if amount is None else Money(amount, kept["currency"]),
            date.fromisoformat(due) if due else None,
            kept.get("new_title"),
        )

    def to_row(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "amount_delta_minor": self.amount_delta.minor if self.amount_delta else None,
            "currency": self.amount_delta.currency if self.amount_delta else None,
            "due_on": self.due_on.isoformat() if self.due_on else None,
            "new_title": self.new_title,
        }

    def to_content(self) -> dict[str, Any]:
        """The members that say something; the rest is left out of the signed text."""
        return present(
            key=self.key,
            amountDelta=self.amount_delta.amount if self.amount_delta is not None else None,
            dueOn=self.due_on.isoformat() if self.due_on else None,
            newTitle=self.new_title,
        )


def present(**members: Any) -> dict[str, Any]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}
