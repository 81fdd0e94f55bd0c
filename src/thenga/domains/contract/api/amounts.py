"""Amounts in requests that are more than nothing."""

from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from thenga.kernel.values.money import Money


def _positive(value: Money) -> Money:
    if value.minor <= 0:
        raise PydanticCustomError("amount", "Write an amount above 0")
    return value


PositiveMoney = Annotated[Money, AfterValidator(_positive)]
