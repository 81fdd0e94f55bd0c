"""Local times and durations as they travel: `2027-01-04T09:00:00`, `09:00`, `P5D` or `PT4H`."""

import re
from datetime import datetime, timedelta
from typing import Annotated

from pydantic_core import PydanticCustomError, core_schema

from thenga.kernel.values.fields import Written, matching

_LOCAL = re.compile(r"(19|20|21)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_UNITS = {"D": "days", "H": "hours", "M": "minutes"}


def _read_local(value: object) -> str:
    if isinstance(value, str) and _LOCAL.fullmatch(value):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            pass
        else:
            return value
    raise PydanticCustomError(
        "local_date_time", "Write a local date and time like 2027-01-04T09:00:00"
    )


LocalDateTime = Annotated[str, Written("local-date-time", 19, _read_local, core_schema.str_schema)]
LocalTime = Annotated[str, matching("^(?:[01][0-9]|2[0-3]):[0-5][0-9]$", 5)]
Duration = Annotated[
    str, matching("^P(?:[1-9][0-9]{0,2}D|T[1-9][0-9]{0,3}H|T[1-9][0-9]{0,4}M)$", 8)
]
Days = Annotated[str, matching("^P[1-9][0-9]{0,2}D$", 5)]


def duration(text: str) -> timedelta:
    """The length of a duration in days, hours or minutes."""
    amount = int(text.strip("PTDHM"))
    return timedelta(**{_UNITS[text[-1]]: amount})


def written(length: timedelta) -> str:
    """A duration in the largest unit that fits."""
    minutes = length // timedelta(minutes=1)
    if minutes % (24 * 60) == 0:
        return f"P{minutes // (24 * 60)}D"
    return f"PT{minutes // 60}H" if minutes % 60 == 0 else f"PT{minutes}M"
