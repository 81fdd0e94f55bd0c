"""The three types of entitlement in plans (BIL-3), and how they are stored."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from thenga.domains.billing.tables import FeatureType

Mode = Literal["hard", "soft"]


@dataclass(frozen=True, slots=True)
class Boolean:
    """A feature that is included or not."""

    key: str
    value: bool
    type: Literal[FeatureType.BOOLEAN] = FeatureType.BOOLEAN


@dataclass(frozen=True, slots=True)
class Limit:
    """How many can be open at once. Null means no limit."""

    key: str
    limit: int | None
    mode: Mode = "hard"
    type: Literal[FeatureType.LIMIT] = FeatureType.LIMIT


@dataclass(frozen=True, slots=True)
class Metered:
    """The quantity included in a usage month, and whether more is refused or billed."""

    key: str
    included: int | None
    mode: Mode = "hard"
    overage_unit_price: Decimal | None = None
    type: Literal[FeatureType.METERED] = FeatureType.METERED

    @property
    def limit(self) -> int | None:
        return self.included


Entitlement = Boolean | Limit | Metered


def parse_entitlements(stored: Iterable[dict[str, Any]]) -> tuple[Entitlement, ...]:
    """The entitlements of a stored plan version."""
    return tuple(_read_one(one) for one in stored)


def _read_one(one: dict[str, Any]) -> Entitlement:
    match FeatureType(one["type"]):
        case FeatureType.BOOLEAN:
            return Boolean(one["key"], one["value"])
        case FeatureType.LIMIT:
            return Limit(one["key"], one["limit"])
        case FeatureType.METERED:
            price = one["overageUnitPrice"]
            return Metered(
                one["key"], one["included"], one["mode"], None if price is None else Decimal(price)
            )


def serialize_entitlements(entitlements: Iterable[Entitlement]) -> list[dict[str, Any]]:
    """Entitlements as stored and shown: camel case names, prices as text."""
    return [_written_one(one) for one in entitlements]


def _written_one(one: Entitlement) -> dict[str, Any]:
    shown: dict[str, Any] = {"key": one.key, "type": one.type.value}
    match one:
        case Boolean():
            return shown | {"value": one.value}
        case Limit():
            return shown | {"limit": one.limit, "mode": one.mode}
        case Metered():
            price = one.overage_unit_price
            return shown | {
                "included": one.included,
                "mode": one.mode,
                "overageUnitPrice": None if price is None else format(price, "f"),
                "resets": "month",
            }
