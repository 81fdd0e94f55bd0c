"""The content of a pricing workbook, as its versions keep it and as the rules compute with it.

Quantities, rates and percentages are exact decimals; JSON keeps them as text.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from enum import StrEnum
from hashlib import sha256
from typing import Any

import rfc8785


class Basis(StrEnum):
    """Whether the rates of a workbook include VAT."""

    VAT_EXCLUSIVE = "vat_exclusive"
    VAT_INCLUSIVE = "vat_inclusive"


class ItemKind(StrEnum):
    """How a price item is measured."""

    MEASURED = "measured"
    LUMP_SUM = "lump_sum"
    PROVISIONAL_SUM = "provisional_sum"
    PRIME_COST = "prime_cost"
    PERCENTAGE = "percentage"
    RATE_ONLY = "rate_only"
    HEADING = "heading"


class ItemVat(StrEnum):
    """VAT treatment of an item."""

    STANDARD = "standard"
    ZERO = "zero"
    EXEMPT = "exempt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item; of a `percentage` the rate is the percentage of the items in `percent_of`."""

    position: int
    kind: ItemKind
    description: str
    section: str | None = None
    unit: str | None = None
    quantity: Decimal | None = None
    unit_rate: Decimal | None = None
    cost: Decimal | None = None
    markup_percent: Decimal | None = None
    percent_of: tuple[str, ...] = ()
    vat: ItemVat = ItemVat.STANDARD
    quote_ref: Mapping[str, Any] | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Item":
        known: dict[str, Any] = {name: row[name] for name in _PLAIN if name in row}
        known |= {name: _decimal(row.get(name)) for name in _DECIMALS}
        return cls(
            **known,
            kind=ItemKind(row["kind"]),
            vat=ItemVat(row.get("vat", "standard")),
            percent_of=tuple(row.get("percent_of", ())),
        )

    def to_row(self) -> dict[str, Any]:
        row = {name.name: getattr(self, name.name) for name in fields(self)}
        row |= {name: _text(row[name]) for name in _DECIMALS}
        row["percent_of"] = list(self.percent_of)
        return {name: value for name, value in row.items() if value not in (None, [])}


_DECIMALS = ("quantity", "unit_rate", "cost", "markup_percent")
_PLAIN = ("position", "description", "section", "unit", "quote_ref")


@dataclass(frozen=True, slots=True, kw_only=True)
class CashTerms:
    """When money comes and goes if the bid is won; indicative (BID-36)."""

    start_on: str | None = None
    deposit_percent: Decimal | None = None
    delivery_days: int | None = None
    acceptance_days: int | None = None
    supplier_credit_percent: Decimal | None = None
    supplier_terms_days: int | None = None
    retention_percent: Decimal | None = None
    cession: bool | None = None
    milestones: tuple[Mapping[str, Any], ...] = ()
    costs: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "CashTerms":
        known: dict[str, Any] = dict(row)
        known |= {name: tuple(known[name]) for name in ("milestones", "costs") if name in known}
        known |= {name: _decimal(row.get(name)) for name in _PERCENTAGES}
        return cls(**known)

    def to_row(self) -> dict[str, Any]:
        row = asdict(self)
        row |= {name: _text(row[name]) for name in _PERCENTAGES}
        row |= {name: list(row[name]) for name in ("milestones", "costs")}
        return {name: value for name, value in row.items() if value not in (None, [])}


_PERCENTAGES = ("deposit_percent", "supplier_credit_percent", "retention_percent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Discounts:
    """One unconditional discount, and conditional ones that do not count in scoring."""

    percent: Decimal | None = None
    amount: Decimal | None = None
    conditional: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Discounts":
        return cls(
            percent=_decimal(row.get("percent")),
            amount=_decimal(row.get("amount")),
            conditional=tuple(row.get("conditional", ())),
        )

    def to_row(self) -> dict[str, Any]:
        row = {
            "percent": _text(self.percent),
            "amount": _text(self.amount),
            "conditional": list(self.conditional),
        }
        return {name: value for name, value in row.items() if value not in (None, [])}


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A version of a workbook. `first_sums` are the provisional sums as they were first entered."""

    basis: Basis = Basis.VAT_EXCLUSIVE
    rate_decimals: int = 2
    boq_document_ref: Mapping[str, Any] | None = None
    items: Mapping[str, Item] = field(default_factory=dict)
    discounts: Discounts = Discounts()
    validity_days: int | None = None
    cash_terms: CashTerms = CashTerms()
    scenario: Mapping[str, Any] | None = None
    first_sums: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Content":
        return cls(
            basis=Basis(row["basis"]),
            rate_decimals=row["rate_decimals"],
            boq_document_ref=row.get("boq_document_ref"),
            items={key: Item.of_row(item) for key, item in row["items"].items()},
            discounts=Discounts.of_row(row.get("discounts", {})),
            validity_days=row.get("validity_days"),
            cash_terms=CashTerms.of_row(row.get("cash_terms", {})),
            scenario=row.get("scenario"),
            first_sums=row.get("first_sums", {}),
        )

    def to_row(self) -> dict[str, Any]:
        return self._priced() | {
            "cash_terms": self.cash_terms.to_row(),
            "scenario": self.scenario,
            "first_sums": dict(self.first_sums),
        }

    def sha256(self) -> str:
        """The hash an approval is bound to: everything but the scenario and the cash terms."""
        return sha256(rfc8785.dumps(self._priced())).hexdigest()

    def in_order(self) -> list[tuple[str, Item]]:
        return sorted(self.items.items(), key=lambda pair: (pair[1].position, pair[0]))

    def _priced(self) -> dict[str, Any]:
        return {
            "basis": self.basis,
            "rate_decimals": self.rate_decimals,
            "boq_document_ref": self.boq_document_ref,
            "items": {key: item.to_row() for key, item in self.items.items()},
            "discounts": self.discounts.to_row(),
            "validity_days": self.validity_days,
        }


def _decimal(value: Any) -> Decimal | None:
    return None if value is None else Decimal(value)


def _text(value: Decimal | None) -> str | None:
    """The shortest text, so that 1.50 and 1.5 are one rate and one hash."""
    if value is None:
        return None
    shown = format(value, "f")
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown) or "0"
