"""The text that both sides sign: canonical JSON of the differences, and its hash (CON-31).

It holds differences only, so variations that are signed in any order add up.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import rfc8785

from thenga.domains.contract.values.changes import MilestoneChange, present
from thenga.kernel.values.money import Money


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
        present(
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
