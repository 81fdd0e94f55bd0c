"""What a decision comes to."""

from dataclasses import dataclass, field
from typing import Any

from thenga.kernel.access.gate import HeldAs


@dataclass(frozen=True, slots=True)
class Outcome:
    """Allow or deny with the reason; `held_as` says by which audience it was held."""

    reason: str
    remedy: dict[str, Any] | None = None
    held_as: HeldAs | None = None
    obligations: tuple[dict[str, Any], ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)  # told beside the reason: limit, used

    @property
    def allowed(self) -> bool:
        return self.reason == "allowed"
