"""What a change in the middle of a period costs: by local day, each side rounded once (BIL-10).

The day of a change belongs to the new plan. What was paid for the days left comes back as a
credit note, what the days left cost on the new plan is an invoice.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from thenga.domains.billing.services.periods import Period
from thenga.kernel.money import Money


@dataclass(frozen=True, slots=True)
class RunningLine:
    """The billed line that covers today: its gross, and the days it was billed for."""

    gross: Money
    span: Period


@dataclass(frozen=True, slots=True)
class Quote:
    """Both documents of a change; money is due only for what the credit does not cover."""

    credit: Money
    charge: Money

    @property
    def due(self) -> Money:
        return max(self.charge - self.credit, Money(0, self.charge.currency))

    @property
    def kept_as_credit(self) -> Money:
        return max(self.credit - self.charge, Money(0, self.charge.currency))


def part(gross: Money, days: int, of_days: int) -> Money:
    """The share of some days in a gross sum, half a cent rounded up."""
    return gross.times(Fraction(days, of_days))


def change(line: RunningLine, *, new_price: Money, period: Period, day: date) -> Quote:
    """Another plan from `day` on, in the same interval; the period stays as it is."""
    left = period.days_from(day)
    return Quote(
        credit=part(line.gross, line.span.days_from(day), line.span.days),
        charge=part(new_price, left, period.days),
    )


def change_of_interval(line: RunningLine, *, new_price: Money, day: date) -> Quote:
    """Another interval always begins today with a full period of its own (BIL-12)."""
    credit = part(line.gross, line.span.days_from(day), line.span.days)
    return Quote(credit=credit, charge=new_price)


def unused_after(line: RunningLine, day: date) -> Money:
    """What an immediate cancellation gives back: today counts as used (BIL-8)."""
    left = line.span.days_from(day + timedelta(days=1))
    return part(line.gross, left, line.span.days)
