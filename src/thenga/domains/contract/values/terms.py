"""The terms of a contract: frozen at activation, read by whoever computes money or dates."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from pydantic import TypeAdapter

from thenga.kernel.values.money import Money

_NONE = Decimal(0)


@dataclass(frozen=True, slots=True)
class Interest:
    """Interest on late payment."""

    basis: Literal["prescribed", "contract"] = "prescribed"
    rate_percent: Decimal | None = None
    runs_from: Literal["due", "demand"] = "due"


@dataclass(frozen=True, slots=True)
class Advance:
    """An advance on the contract value, and the share of each invoice that recovers it."""

    percent: Decimal = _NONE
    recovery_percent: Decimal = _NONE


@dataclass(frozen=True, slots=True)
class Retention:
    """What the buyer keeps of each invoice, up to a share of the contract value."""

    percent: Decimal = _NONE
    cap_percent: Decimal = _NONE
    first_release_percent: Decimal = Decimal(50)
    defects_days: int = 0
    vat_timing: Literal["when_due", "on_invoice"] = "when_due"


@dataclass(frozen=True, slots=True)
class Penalty:
    """What a late delivery costs, by the day."""

    percent_per_day: Decimal | None = None
    amount_per_day: Money | None = None
    cap_percent: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Security:
    """Performance security that we bring."""

    percent: Decimal = _NONE
    due_days: int = 21


@dataclass(frozen=True, slots=True)
class Terms:
    """All terms; what nobody gave has the default."""

    payment_days: int
    interest: Interest = field(default_factory=Interest)
    vat_treatment: Literal["standard", "zero_rated", "non_vendor"] = "standard"
    advance: Advance = field(default_factory=Advance)
    retention: Retention = field(default_factory=Retention)
    penalty: Penalty | None = None
    security: Security | None = None
    subcontract_limit_percent: Decimal | None = None
    claim_basis: Literal["on_met", "progress"] = "on_met"
    cession: Literal["unknown", "allowed", "needs_consent", "forbidden"] = "unknown"

    @classmethod
    def of_row(cls, stored: dict[str, Any]) -> "Terms":
        return _TERMS.validate_python(stored)

    def to_row(self) -> dict[str, Any]:
        stored: dict[str, Any] = _TERMS.dump_python(self, mode="json")
        return stored


_TERMS = TypeAdapter(Terms)
