"""Until which day a paper is good: the printed day, else a rule, else a cycle (CMP-24, CMP-26).

A paper is good through the whole of its last day, by the calendar of South Africa.
"""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Self

from dateutil.relativedelta import relativedelta

_ONE_DAY = timedelta(days=1)


class ValidityKind(StrEnum):
    """How the last day of a paper is found where none is printed on it."""

    NO_EXPIRY = "no_expiry"
    PRINTED = "printed"  # only a printed day counts; without one the paper is undated
    AFTER_ISSUE = "after_issue"
    AFTER_PERIOD_END = "after_period_end"
    YEARLY = "yearly"  # the next such day of a year, as COIDA's 30 April


class Basis(StrEnum):
    """What the last day rests on."""

    PRINTED = "printed"
    RULE = "rule"
    CYCLE = "cycle"


@dataclass(frozen=True, slots=True)
class ValidityRule:
    """The rule of a requirement or document type.

    A `live` paper shows a state that others keep, such as a list: past its last day nothing is
    known, and nothing has expired.
    """

    kind: ValidityKind
    days: int = 0
    months: int = 0
    minus_days: int = 0
    month: int = 1
    day: int = 1
    live: bool = False

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        """The rule that a JSON column keeps."""
        return cls(
            kind=ValidityKind(row["kind"]),
            days=row.get("days", 0),
            months=row.get("months", 0),
            minus_days=row.get("minusDays", 0),
            month=row.get("month", 1),
            day=row.get("day", 1),
            live=row.get("live", False),
        )

    def to_row(self) -> dict[str, Any]:
        """The rule as the JSON column keeps it, without what says nothing."""
        named = {
            "days": self.days,
            "months": self.months,
            "minusDays": self.minus_days,
            "live": self.live,
        }
        row = {"kind": self.kind.value} | {name: value for name, value in named.items() if value}
        if self.kind is ValidityKind.YEARLY:
            row |= {"month": self.month, "day": self.day}
        return row


@dataclass(frozen=True, slots=True)
class AgeLimit:
    """How old a tender lets a paper be; the paper's own last day still counts."""

    days: int | None = None
    months: int | None = None

    @classmethod
    def of_params(cls, params: dict[str, Any]) -> Self | None:
        """The limit that a tender's row names, if it does."""
        days, months = params.get("maxAgeDays"), params.get("maxAgeMonths")
        return cls(days, months) if days is not None or months is not None else None

    def last_day(self, issued_on: date) -> date:
        """The last day on which a paper of that issue is young enough."""
        ends = []
        if self.days is not None:
            ends.append(issued_on + timedelta(days=self.days))
        if self.months is not None:
            ends.append(issued_on + relativedelta(months=self.months))
        return min(ends)


@dataclass(frozen=True, slots=True)
class ValidUntil:
    """The last day of a paper and what it rests on; `on` is None where it never ends."""

    on: date | None
    basis: Basis | None
    is_undated: bool = False

    def is_past(self, day: date) -> bool:
        """Whether the paper is over on that day."""
        return self.on is not None and day > self.on


ENDLESS = ValidUntil(None, None)
UNDATED = ValidUntil(None, None, is_undated=True)


def valid_until(
    rule: ValidityRule,
    *,
    issued_on: date | None,
    expires_on: date | None,
    period_end: date | None = None,
    age_limit: AgeLimit | None = None,
) -> ValidUntil:
    """The last good day of a paper; a tender's age limit can only bring it forward."""
    found = _own_end(rule, issued_on=issued_on, expires_on=expires_on, period_end=period_end)
    if age_limit is None or found.is_undated:
        return found
    if issued_on is None:
        return UNDATED
    limit = age_limit.last_day(issued_on)
    if found.on is None or limit < found.on:
        return ValidUntil(limit, Basis.RULE)
    return found


def _own_end(
    rule: ValidityRule,
    *,
    issued_on: date | None,
    expires_on: date | None,
    period_end: date | None,
) -> ValidUntil:
    if expires_on is not None:
        return ValidUntil(expires_on, Basis.PRINTED)
    if rule.kind is ValidityKind.NO_EXPIRY:
        return ENDLESS
    start = period_end if rule.kind is ValidityKind.AFTER_PERIOD_END else issued_on
    if rule.kind is ValidityKind.PRINTED or start is None:
        return UNDATED
    if rule.kind is ValidityKind.YEARLY:
        return ValidUntil(_next_yearly(start, rule), Basis.CYCLE)
    end = start + relativedelta(months=rule.months) + timedelta(days=rule.days - rule.minus_days)
    return ValidUntil(end, Basis.RULE)


def _next_yearly(start: date, rule: ValidityRule) -> date:
    this_year = date(start.year, rule.month, rule.day)
    return this_year if this_year >= start else date(start.year + 1, rule.month, rule.day)


def bounded(end: ValidUntil, *, by: date) -> ValidUntil:
    """The same end, not later than a day that something else ends on."""
    return replace(end, on=by) if end.on is None or by < end.on else end
