"""What plans are made of on the wire: prices and the three types of entitlement."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from thenga.domains.billing.services import pricing
from thenga.domains.billing.tables import Interval
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import decimal, matching, whole
from thenga.kernel.values.money import Money

Key = Annotated[
    str,
    matching("^[a-z][a-z_]*(?:\\.[a-z][a-z_]*){1,3}$", 80),
    Field(description="An entitlement key, for example `identity.seats`."),
]
Ceiling = Annotated[int, whole(0, 10**9)]
UnitPrice = Annotated[Decimal, decimal(6, 6)]


class Rand(Body):
    """An amount from 0 up, in rand."""

    amount: Annotated[Decimal, decimal(12, 2)]
    currency: Literal["ZAR"] = "ZAR"

    @property
    def money(self) -> Money:
        return Money.of(format(self.amount, "f"), self.currency)


class PriceBody(Body):
    interval: Interval
    gross: Annotated[Rand, Field(description="VAT included.")]

    def stored(self) -> dict[str, Any]:
        gross = self.gross.money
        return {
            "interval": self.interval.value,
            "grossMinor": gross.minor,
            "currency": gross.currency,
        }


class BooleanBody(Body):
    type: Literal["boolean"]
    key: Key
    value: bool


class LimitBody(Body):
    type: Literal["limit"]
    key: Key
    limit: Annotated[Ceiling | None, Field(description="Null is no limit.")]
    mode: Literal["hard"] = "hard"


class MeteredBody(Body):
    type: Literal["metered"]
    key: Key
    included: Annotated[Ceiling | None, Field(description="A month; null is no limit.")]
    mode: Annotated[
        Literal["hard", "soft"], Field(description="Above it: `hard` refuses, `soft` is billed.")
    ] = "hard"
    overage_unit_price: Annotated[
        UnitPrice | None, Field(description="Rand a unit, VAT included; needed where soft.")
    ] = None
    resets: Literal["month"] = "month"


EntitlementBody = Annotated[BooleanBody | LimitBody | MeteredBody, Field(discriminator="type")]
Prices = Annotated[list[PriceBody], Field(min_length=1, max_length=2)]
Entitlements = Annotated[list[EntitlementBody], Field(min_length=1, max_length=100)]


def stored_entitlement(one: BooleanBody | LimitBody | MeteredBody) -> dict[str, Any]:
    """As plans keep it: the names of the wire, prices as text."""
    return one.model_dump(mode="json", by_alias=True)


class PriceView(View):
    interval: Interval
    gross: Annotated[Money, Field(description="What is charged, VAT included.")]
    net: Money
    vat: Money

    @classmethod
    def of(cls, stored: dict[str, Any], rate_pct: Decimal | None) -> "PriceView":
        taxed = pricing.split_vat(Money(stored["grossMinor"], stored["currency"]), rate_pct)
        return cls(
            interval=Interval(stored["interval"]),
            gross=taxed.gross,
            net=taxed.net,
            vat=taxed.vat,
        )


class EntitlementView(View):
    """One entitlement; which fields are not null its `type` says."""

    key: str
    type: Literal["boolean", "limit", "metered"]
    value: Annotated[bool | None, Field(description="Of a boolean one.")] = None
    limit: Annotated[int | None, Field(description="Of a limit; null is no limit.")] = None
    included: Annotated[
        int | None, Field(description="Of a metered one, a month; null is no limit.")
    ] = None
    mode: Literal["hard", "soft"] | None = None
    overage_unit_price: Annotated[
        str | None, Field(description="Rand a unit above what is included, VAT included.")
    ] = None
    resets: Literal["month"] | None = None
