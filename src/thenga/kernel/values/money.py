"""Money: whole hundredths of a currency, never a float.

On the wire it is `{"amount": "1234.50", "currency": "ZAR"}`. We count hundredths in every
currency, so that amount and stored `bigint` agree without a table of currencies.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import total_ordering
from typing import Annotated, NoReturn

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

AMOUNT_PATTERN = r"^-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,2})?$"
CURRENCY_PATTERN = r"^[A-Z]{3}$"
_AMOUNT = re.compile(AMOUNT_PATTERN)
_CURRENCY = re.compile(CURRENCY_PATTERN)
_MOST = 10**18  # 18 digits, which a bigint holds with room for sums

Factor = Decimal | Fraction | int


class CurrencyMismatch(ValueError):
    """Two currencies met in one sum or comparison; there is no rate here."""


@total_ordering
class Money:
    """An amount in hundredths of its currency; never changes once made.

    No dataclass, because pydantic takes those apart when a model is dumped to Python values.
    """

    __slots__ = ("currency", "minor")
    currency: str
    minor: int

    def __init__(self, minor: int, currency: str) -> None:
        if type(minor) is not int:
            raise TypeError("minor units are a whole number")
        if not -_MOST < minor < _MOST:
            raise OverflowError("an amount has at most 18 digits")
        if not _CURRENCY.fullmatch(currency):
            raise ValueError("a currency is three capital letters")
        object.__setattr__(self, "minor", minor)
        object.__setattr__(self, "currency", currency)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("money does not change; make another")

    def __reduce__(self) -> tuple[type["Money"], tuple[int, str]]:
        return Money, (self.minor, self.currency)

    @classmethod
    def of(cls, amount: str, currency: str = "ZAR") -> "Money":
        """From the text of the wire: `Money.of("1234.50")`."""
        if not _AMOUNT.fullmatch(amount):
            raise ValueError("an amount is written like 1234.50, with at most 18 digits")
        whole, _, cents = amount.partition(".")
        return cls(int(whole + cents.ljust(2, "0")), currency)

    @property
    def amount(self) -> str:
        """The decimal text, always with two places."""
        whole, cents = divmod(abs(self.minor), 100)
        return f"{'-' if self.minor < 0 else ''}{whole}.{cents:02d}"

    def __str__(self) -> str:
        return f"{self.currency} {self.amount}"

    def __repr__(self) -> str:
        return f"Money({self.minor}, {self.currency!r})"

    def __bool__(self) -> bool:
        return self.minor != 0

    def __hash__(self) -> int:
        return hash((self.minor, self.currency))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Money):
            return NotImplemented
        return self.minor == other.minor and self.currency == other.currency

    def __add__(self, other: "Money") -> "Money":
        return Money(self.minor + self._same(other), self.currency)

    def __sub__(self, other: "Money") -> "Money":
        return Money(self.minor - self._same(other), self.currency)

    def __neg__(self) -> "Money":
        return Money(-self.minor, self.currency)

    def __lt__(self, other: "Money") -> bool:
        return self.minor < self._same(other)

    def times(self, factor: Factor) -> "Money":
        """Multiplied exactly, then rounded once, half-up (a half goes away from zero).

        A Fraction keeps a rate that decimals cannot: VAT inside a price is `Fraction(15, 115)`.
        """
        if not isinstance(factor, Decimal | Fraction | int):
            raise TypeError("a factor is a Decimal, a Fraction or an int")
        return Money(_half_up(self.minor * Fraction(factor)), self.currency)

    def share(self, parts: Sequence[Factor]) -> list["Money"]:
        """Split by weights so that the shares sum to the whole, by largest remainder.

        Between equal remainders the earlier part gets the cent, so the split is repeatable.
        """
        weights = [Fraction(part) for part in parts]
        total = sum(weights)
        if total <= 0 or min(weights) < 0:
            raise ValueError("weights are not negative, and one is more than zero")
        exact = [abs(self.minor) * weight / total for weight in weights]
        floors = [part.numerator // part.denominator for part in exact]
        left = abs(self.minor) - sum(floors)
        by_remainder = sorted(range(len(exact)), key=lambda i: floors[i] - exact[i])
        for i in by_remainder[:left]:
            floors[i] += 1
        sign = -1 if self.minor < 0 else 1
        return [Money(sign * floor, self.currency) for floor in floors]

    def _same(self, other: "Money") -> int:
        if not isinstance(other, Money):
            raise TypeError("money meets only money")
        if other.currency != self.currency:
            raise CurrencyMismatch(f"{self.currency} and {other.currency}")
        return other.minor

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            _read,
            handler.generate_schema(_Wire),
            ref=f"{cls.__module__}.{cls.__qualname__}:{id(cls)}",  # shown once in the document
            serialization=core_schema.plain_serializer_function_ser_schema(_write, info_arg=True),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.WrapValidatorFunctionSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # The same in both directions, so that the document shows one Money and not two.
        return handler(schema["schema"])


_AMOUNT_SHOWN = Field(description="Decimal amount with at most two decimals.", examples=["1234.50"])
_CURRENCY_SHOWN = Field(description="Currency code, ISO 4217.", examples=["ZAR"])


class _Wire(BaseModel):
    """Amount of money in a currency, as a decimal string."""

    model_config = ConfigDict(extra="forbid", strict=True, title="Money")

    amount: Annotated[str, Field(pattern=AMOUNT_PATTERN, max_length=20), _AMOUNT_SHOWN]
    currency: Annotated[str, Field(pattern=CURRENCY_PATTERN, max_length=3), _CURRENCY_SHOWN]


def _read(value: object, wire: core_schema.ValidatorFunctionWrapHandler) -> Money:
    if isinstance(value, Money):
        return value
    read: _Wire = wire(value)
    return Money.of(read.amount, read.currency)


def _write(money: Money, info: core_schema.SerializationInfo) -> Money | dict[str, str]:
    if not info.mode_is_json():
        return money
    return {"amount": money.amount, "currency": money.currency}


def _half_up(number: Fraction) -> int:
    rounded = (2 * abs(number.numerator) + number.denominator) // (2 * number.denominator)
    return rounded if number >= 0 else -rounded
