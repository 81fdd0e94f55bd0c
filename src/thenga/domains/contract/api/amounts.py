"""Amounts in requests: within what sums can hold, and for some more than nothing."""

from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.fields import by_rule
from thenga.kernel.values.money import Money

_MOST = Money(10**15, "ZAR")  # hundreds of them still sum to an amount that money can hold


def _bounded(value: Money) -> Money:
    if abs(value.minor) > _MOST.minor:
        raise PydanticCustomError("amount", "Write an amount of at most 10000000000000.00")
    return value


def _positive(value: Money) -> Money:
    if value.minor <= 0:
        raise RuleViolated("Send an amount above 0.", rule="amount")
    return value


SignedMoney = Annotated[Money, AfterValidator(_bounded)]
PositiveMoney = Annotated[SignedMoney, by_rule(_positive)]
