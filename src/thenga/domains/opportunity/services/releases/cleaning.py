"""Values of a release: placeholders, dates of year 1, and times that are local but say UTC."""

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from thenga.domains.opportunity.values.feeds import FeedClock
from thenga.domains.opportunity.values.notices import Finding, Severity

_PLACEHOLDERS = frozenset({"", "-", "--", "n/a", "na", "none", "null", "tbc", "000-000-0000", "0"})
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:?\d\d)?"
)
_SHOWN = 200
_MOST_CENTS = 10**17  # a thousand trillion rand


class Rejected(Exception):
    """A record that cannot be read; the finding says where and why."""

    def __init__(self, pointer: str, code: str, found: Any = None) -> None:
        super().__init__(code)
        shown = None if found is None else str(found)[:_SHOWN]
        self.finding = Finding(pointer, code, Severity.REJECTED, before=shown)


@dataclass
class Report:
    """Collects the findings of one record."""

    lines: list[Finding] = field(default_factory=list)

    def repaired(self, pointer: str, code: str, before: Any, after: Any = None) -> None:
        self._note(pointer, code, Severity.REPAIRED, before, after)

    def missing(self, pointer: str, code: str, before: Any = None) -> None:
        self._note(pointer, code, Severity.MISSING, before)

    def doubtful(self, pointer: str, code: str, before: Any = None, after: Any = None) -> None:
        self._note(pointer, code, Severity.DOUBTFUL, before, after)

    def _note(
        self, pointer: str, code: str, severity: Severity, before: Any, after: Any = None
    ) -> None:
        was = None if before is None else str(before)[:_SHOWN]
        became = None if after is None else str(after)[:_SHOWN]
        self.lines.append(Finding(pointer, code, severity, was, became))


@dataclass(frozen=True, slots=True)
class ReadTime:
    """An instant, and whether the source named a time of day or only the day."""

    at: datetime
    has_time: bool
    is_relocalised: bool


def part(value: Any, name: str, pointer: str) -> dict[str, Any]:
    """A nested object; empty where it is absent, rejected where it is something else."""
    found = value.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Rejected(f"{pointer}/{name}", "shape_unknown", type(found).__name__)
    return found


def items(value: dict[str, Any], name: str, pointer: str) -> list[dict[str, Any]]:
    """A nested list of objects; empty where it is absent, rejected where it is something else."""
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise Rejected(f"{pointer}/{name}", "shape_unknown", type(found).__name__)
    return found


def text(
    value: dict[str, Any], name: str, pointer: str, report: Report, *, most: int
) -> str | None:
    """A text without control characters and placeholders, cut at the length that is stored."""
    found = value.get(name)
    if found is None:
        return None
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str):
        raise Rejected(f"{pointer}/{name}", "shape_unknown", type(found).__name__)
    plain = _CONTROLS.sub("", found.replace("\r\n", "\n").replace("\r", "\n")).strip()
    plain = plain.encode("utf-8", "replace").decode()
    if plain.casefold() in _PLACEHOLDERS:
        report.repaired(f"{pointer}/{name}", "placeholder_cleared", found)
        return None
    if len(plain) > most:
        report.repaired(f"{pointer}/{name}", "text_cut", len(plain), most)
        return plain[:most]
    return plain


def time(
    value: dict[str, Any], name: str, pointer: str, report: Report, clock: FeedClock
) -> ReadTime | None:
    """An instant as the source means it; a date of year 1 is no date."""
    found = value.get(name)
    if found is None or found == "":
        return None
    path = f"{pointer}/{name}"
    matched = _INSTANT.fullmatch(found.strip()) if isinstance(found, str) else None
    if matched is None:
        raise Rejected(path, "date_unreadable", found)
    if matched[1] == "0001":
        report.repaired(path, "null_date", found)
        return None
    has_time = matched[4] is not None and matched.group(4, 5) != ("00", "00")
    try:
        return _read(matched, found, path, report, clock, has_time=has_time)
    except ValueError:
        raise Rejected(path, "date_unreadable", found) from None


def _read(
    matched: re.Match[str],
    found: str,
    path: str,
    report: Report,
    clock: FeedClock,
    *,
    has_time: bool,
) -> ReadTime:
    year, month, day, hour, minute, second = (int(part or 0) for part in matched.groups()[:6])
    digits = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    zone = matched[7]
    if zone not in (None, "Z"):
        offset = datetime.strptime(zone.replace(":", ""), "%z").tzinfo
        return ReadTime(digits.replace(tzinfo=offset).astimezone(UTC), has_time, False)
    if zone == "Z" and has_time and not clock.wall_time_as_utc:
        return ReadTime(digits, has_time, False)
    # The digits are local wall time; the letter is the publisher's mistake.
    at = digits.replace(tzinfo=ZoneInfo(clock.time_zone)).astimezone(UTC)
    if has_time:
        report.repaired(path, "sast_relocalised", found, f"{at:%Y-%m-%dT%H:%M:%SZ}")
    return ReadTime(at, has_time, True)


def day(value: dict[str, Any], name: str, pointer: str, report: Report) -> date | None:
    """The day of an instant that has no time of day."""
    found = value.get(name)
    if found is None or found == "":
        return None
    matched = _INSTANT.fullmatch(found.strip()) if isinstance(found, str) else None
    if matched is None:
        raise Rejected(f"{pointer}/{name}", "date_unreadable", found)
    if matched[1] == "0001":
        report.repaired(f"{pointer}/{name}", "null_date", found)
        return None
    try:
        return date(int(matched[1]), int(matched[2]), int(matched[3]))
    except ValueError:
        raise Rejected(f"{pointer}/{name}", "date_unreadable", found) from None


def money(value: dict[str, Any], pointer: str, report: Report) -> tuple[int, str] | None:
    """An amount in cents and its currency."""
    found = value.get("amount")
    if found is None:
        return None
    try:
        cents = int((Decimal(str(found)) * 100).to_integral_value())
    except (ArithmeticError, ValueError):
        raise Rejected(f"{pointer}/amount", "amount_unreadable", found) from None
    if cents == 0:
        report.repaired(f"{pointer}/amount", "placeholder_cleared", found)
        return None
    if not 0 < cents < _MOST_CENTS:
        raise Rejected(f"{pointer}/amount", "amount_unreadable", found)
    currency = value.get("currency")
    is_code = isinstance(currency, str) and len(currency) == 3 and currency.isascii()
    return cents, str(currency).upper() if is_code else "ZAR"
