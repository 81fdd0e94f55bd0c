"""Proration: the value of some days of a billed line, by local day, rounded once (BIL-8,
BIL-10)."""

from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from thenga.domains.billing.services.pricing.periods import Period
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class RunningLine:
    """The line that bills today: its gross and its days."""

    gross: Money
    span: Period


def prorate(gross: Money, days: int, of_days: int) -> Money:
    """The share of some days in a gross amount. Half a cent rounds up."""
    return gross.times(Fraction(days, of_days))


def unused_after(line: RunningLine, day: date) -> Money:
    """What an immediate cancellation credits. Today counts as used (BIL-8)."""
    left = line.span.days_from(day + timedelta(days=1))
    return prorate(line.gross, left, line.span.days)
