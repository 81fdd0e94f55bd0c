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
    return tuple(_read_one(document) for document in stored)


def _read_one(document: dict[str, Any]) -> Entitlement:
    match FeatureType(document["type"]):
        case FeatureType.BOOLEAN:
            return Boolean(document["key"], document["value"])
        case FeatureType.LIMIT:
            return Limit(document["key"], document["limit"])
        case FeatureType.METERED:
            price = document["overageUnitPrice"]
            return Metered(
                document["key"],
                document["included"],
                document["mode"],
                None if price is None else Decimal(price),
            )


def serialize_entitlements(entitlements: Iterable[Entitlement]) -> list[dict[str, Any]]:
    """Entitlements as stored and shown: camel case names, prices as text."""
    return [_written_one(entitlement) for entitlement in entitlements]


def _written_one(entitlement: Entitlement) -> dict[str, Any]:
    shown: dict[str, Any] = {"key": entitlement.key, "type": entitlement.type.value}
    match entitlement:
        case Boolean():
            return shown | {"value": entitlement.value}
        case Limit():
            return shown | {"limit": entitlement.limit, "mode": entitlement.mode}
        case Metered():
            price = entitlement.overage_unit_price
            return shown | {
                "included": entitlement.included,
                "mode": entitlement.mode,
                "overageUnitPrice": None if price is None else format(price, "f"),
                "resets": "month",
            }
