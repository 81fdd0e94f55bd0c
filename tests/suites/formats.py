"""Values of the formats that the API document names, as we take them.

A format says less than a pattern would: which days, how many digits. Chance therefore draws what
every field of the format takes; the edges of each field are held by the tests of its domain.
"""

import string
from datetime import UTC, date, datetime

import schemathesis
from hypothesis import strategies as st

from thenga.kernel.values.fields import ZONES

_DAYS = st.dates(date(1900, 1, 1), date(2200, 12, 31))
_INSTANTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
_WORDS = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=20)


def _instant(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _local(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat()


def _decimal(hundredths: int) -> str:
    whole, rest = divmod(hundredths, 100)
    return f"{whole}.{rest:02d}" if rest else str(whole)


STRATEGIES: dict[str, st.SearchStrategy[str]] = {
    "date": _DAYS.map(date.isoformat),
    "date-time": _INSTANTS.map(_instant),
    "decimal": st.integers(0, 9999).map(_decimal),
    "local-date-time": st.datetimes(datetime(2100, 1, 1), datetime(2199, 12, 31)).map(_local),  # noqa: DTZ001
    "email": st.builds("{}@{}.example".format, _WORDS, _WORDS),
    "time-zone": st.sampled_from(ZONES),
}


def register() -> None:
    """Let Schemathesis draw these."""
    for name, strategy in STRATEGIES.items():
        schemathesis.openapi.format(name, strategy)
