"""Settings of Contract: what an operator may change, with their defaults (CON-49)."""

from typing import Annotated, Literal

from pydantic import Field

from thenga.kernel.declare.law import (
    APPEAL_DAYS,
    EXTRA_HOLIDAYS,
    PAY_DAYS,
    VARIATION_LIMIT,
    VAT_RATE,
)
from thenga.kernel.declare.setting import Setting

_Item = Literal["performance", "lesson", "packages"]

WAIVABLE = Setting(
    "contract.closeout.waivable",
    Annotated[list[_Item], Field(max_length=3)],
    ["performance", "lesson", "packages"],
    "Closeout items that can be marked as not applicable",
)
REOPEN_MONTHS = Setting(
    "contract.closeout.reopenMonths",
    Annotated[int, Field(ge=0, le=120)],
    24,
    "Months after closing in which a closeout can be reopened",
)

SETTINGS = (
    WAIVABLE,
    REOPEN_MONTHS,
    PAY_DAYS,
    APPEAL_DAYS,
    VAT_RATE,
    VARIATION_LIMIT,
    EXTRA_HOLIDAYS,
)
