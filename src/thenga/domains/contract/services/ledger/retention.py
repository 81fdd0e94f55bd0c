"""When retained money may be claimed back: a first part at practical completion, the rest after the
defects period (CON-17)."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from thenga.domains.contract.services.ledger.balances import Balances
from thenga.domains.contract.tables import Workspace
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class ReleasePart:
    """A part of the retention, with the day from which it may be claimed."""

    part: int
    amount: Money
    releasable_on: date


def release_parts(
    *,
    retained: Money,
    released: Money,
    first_percent: Decimal,
    completed_on: date,
    defects_days: int,
) -> list[ReleasePart]:
    """Parts that are still retained, by the day on which practical completion was met."""
    first = max(retained.times(Fraction(first_percent) / 100) - released, retained - retained)
    rest = retained - released - first
    after_defects = completed_on + timedelta(days=defects_days)
    parts = (ReleasePart(1, first, completed_on), ReleasePart(2, rest, after_defects))
    return [part for part in parts if part.amount]


def releasable(parts: list[ReleasePart], today: date, currency: str) -> Money:
    """How much may be claimed on a day."""
    due = (part.amount for part in parts if part.releasable_on <= today)
    return sum(due, Money(0, currency))


def parts_of(workspace: Workspace, balances: Balances) -> list[ReleasePart]:
    """Parts of a contract's retention. None of it is releasable before practical completion."""
    retention = Terms.of_row(workspace.terms).retention
    if workspace.practical_completion_on is None:
        return []
    return release_parts(
        retained=balances.retained,
        released=balances.released,
        first_percent=retention.first_release_percent,
        completed_on=workspace.practical_completion_on,
        defects_days=retention.defects_days,
    )
