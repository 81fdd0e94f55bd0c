"""When retained money may be claimed back: a first part at practical completion, the rest after the
defects period (CON-17)."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from thenga.domains.contract import public
from thenga.domains.contract.services.ledger.balances import Balances
from thenga.domains.contract.tables import Workspace, WorkspaceMoney
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day, local_midnight
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


async def tell_retention(work: Work, workspace_id: UUID) -> None:
    """Publish each part of the retention on the day from which it can be claimed, once."""
    workspace = await work.lock(Workspace, workspace_id)
    work.origin.correlation_id = workspace.correlation_id
    money = await work.lock_by(WorkspaceMoney, beside=True, workspace_id=workspace_id)
    parts = parts_of(workspace, Balances.of(money))
    waiting = [part for part in parts if part.part > money.releases_told]
    today = local_day(work.now)
    due = [part for part in waiting if part.releasable_on <= today]
    money.releases_told = max((part.part for part in due), default=money.releases_told)
    later = [local_midnight(part.releasable_on) for part in waiting if part not in due]
    workspace.next_check_at = min(later, default=None)
    await work.save(money)
    await work.save(workspace)
    for part in due:
        work.publish(
            public.RetentionReleasable(
                organization_id=workspace.organization_id,
                workspace_id=workspace.id,
                part=f"part_{part.part}",
                amount=part.amount,
                releasable_on=part.releasable_on,
            )
        )


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
