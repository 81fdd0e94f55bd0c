"""Prices and entitlements of plans, as requests and responses show them."""

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
    Field(description="Entitlement key, for example `identity.seats`."),
]
Ceiling = Annotated[int, whole(0, 10**9)]
UnitPrice = Annotated[Decimal, decimal(6, 6)]


class Rand(Body):
    """An amount in rand, 0 or more."""

    amount: Annotated[
        Decimal, decimal(12, 2), Field(description="Decimal amount with at most two decimals.")
    ]
    currency: Annotated[Literal["ZAR"], Field(description="Currency. Only `ZAR` is supported.")] = (
        "ZAR"
    )

    @property
    def money(self) -> Money:
        return Money.of(format(self.amount, "f"), self.currency)


class PriceBody(Body):
    """A price for one interval."""

    interval: Annotated[Interval, Field(description="Billing interval.")]
    gross: Annotated[Rand, Field(description="Price, VAT included.")]

    def stored(self) -> dict[str, Any]:
        gross = self.gross.money
        return {
            "interval": self.interval.value,
            "grossMinor": gross.minor,
            "currency": gross.currency,
        }


class BooleanBody(Body):
    """An entitlement that is on or off."""

    type: Annotated[Literal["boolean"], Field(description="Type of entitlement.")]
    key: Key
    value: Annotated[bool, Field(description="Whether it is included.")]


class LimitBody(Body):
    """An entitlement that limits how many may exist at once."""

    type: Annotated[Literal["limit"], Field(description="Type of entitlement.")]
    key: Key
    limit: Annotated[Ceiling | None, Field(description="Maximum. Null means unlimited.")]
    mode: Annotated[Literal["hard"], Field(description="Above the limit, use is refused.")] = "hard"


class MeteredBody(Body):
    """An entitlement that is used up over a month."""

    type: Annotated[Literal["metered"], Field(description="Type of entitlement.")]
    key: Key
    included: Annotated[
        Ceiling | None, Field(description="Quantity included per month. Null means unlimited.")
    ]
    mode: Annotated[
        Literal["hard", "soft"],
        Field(description="Above the included quantity, `hard` refuses and `soft` charges."),
    ] = "hard"
    overage_unit_price: Annotated[
        UnitPrice | None,
        Field(
            description="Rand per unit above the included quantity, VAT included. Required for "
            "`soft`."
        ),
    ] = None
    resets: Annotated[Literal["month"], Field(description="When usage starts again at 0.")] = (
        "month"
    )


EntitlementBody = Annotated[BooleanBody | LimitBody | MeteredBody, Field(discriminator="type")]
Prices = Annotated[list[PriceBody], Field(min_length=1, max_length=2)]
Entitlements = Annotated[list[EntitlementBody], Field(min_length=1, max_length=100)]


def stored_entitlement(entitlement: BooleanBody | LimitBody | MeteredBody) -> dict[str, Any]:
    """The entitlement as plans store it: wire names, prices as text."""
    return entitlement.model_dump(mode="json", by_alias=True)


class PriceView(View):
    """A price for one interval."""

    interval: Annotated[Interval, Field(description="Billing interval.")]
    gross: Annotated[Money, Field(description="Price charged, VAT included.")]
    net: Annotated[Money, Field(description="Price without VAT.")]
    vat: Annotated[Money, Field(description="VAT included in `gross`.")]

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
    """One entitlement. Its `type` decides which fields are set."""

    key: Annotated[str, Field(description="Entitlement key.")]
    type: Annotated[
        Literal["boolean", "limit", "metered"], Field(description="Type of entitlement.")
    ]
    value: Annotated[
        bool | None, Field(description="Whether it is included. Only for `boolean`.")
    ] = None
    limit: Annotated[
        int | None, Field(description="Maximum. Null means unlimited. Only for `limit`.")
    ] = None
    included: Annotated[
        int | None,
        Field(description="Quantity included per month. Null means unlimited. Only for `metered`."),
    ] = None
    mode: Annotated[
        Literal["hard", "soft"] | None,
        Field(description="Above the limit, `hard` refuses and `soft` charges."),
    ] = None
    overage_unit_price: Annotated[
        str | None, Field(description="Rand per unit above the included quantity, VAT included.")
    ] = None
    resets: Annotated[
        Literal["month"] | None, Field(description="When usage starts again at 0.")
    ] = None
