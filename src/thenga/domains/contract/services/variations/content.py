"""The text that both sides sign: canonical JSON of the differences, and its hash (CON-31).

It holds differences only, so variations that are signed in any order add up.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import rfc8785

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
        return _present(
            key=self.key,
            amountDelta=self.amount_delta.amount if self.amount_delta is not None else None,
            dueOn=self.due_on.isoformat() if self.due_on else None,
            newTitle=self.new_title,
        )


@dataclass(frozen=True, slots=True)
class SignedContent:
    """What a variation changes."""

    contract_number: str
    number: str
    title: str
    reason_code: str
    value_delta: Money | None
    days_delta: int | None
    scope: str | None
    milestone_changes: Sequence[MilestoneChange]


def canonical(content: SignedContent) -> bytes:
    """The text as RFC 8785 writes it; members without a value are left out."""
    value = content.value_delta
    changes = [change.to_content() for change in content.milestone_changes]
    return rfc8785.dumps(
        _present(
            contractNumber=content.contract_number,
            number=content.number,
            title=content.title,
            reasonCode=content.reason_code,
            valueDelta={"amount": value.amount, "currency": value.currency} if value else None,
            daysDelta=content.days_delta or None,
            scope=content.scope or None,
            milestoneChanges=changes or None,
        )
    )


def content_hash(content: SignedContent) -> str:
    return hashlib.sha256(canonical(content)).hexdigest()


def _present(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
