"""What a contract has billed, retained, advanced and recovered so far (CON-18)."""

from dataclasses import dataclass
from uuid import UUID

from thenga.domains.contract.tables import WorkspaceMoney
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class Balances:
    """The counters of one contract. `increases` are those of executed variations."""

    value: Money
    increases: Money
    billed: Money
    advance_due: Money
    advance_billed: Money
    recovered: Money
    retention_cap: Money
    retained: Money
    released: Money

    @property
    def remaining(self) -> Money:
        """Work that can still be billed."""
        return self.value - self.billed

    @classmethod
    def of(cls, row: WorkspaceMoney) -> "Balances":
        def amount(minor: int) -> Money:
            return Money(minor, row.currency)

        return cls(
            value=amount(row.value_minor),
            increases=amount(row.increases_minor),
            billed=amount(row.billed_minor),
            advance_due=amount(row.advance_due_minor),
            advance_billed=amount(row.advance_billed_minor),
            recovered=amount(row.recovered_minor),
            retention_cap=amount(row.retention_cap_minor),
            retained=amount(row.retained_minor),
            released=amount(row.released_minor),
        )


async def money_of(read: Reader, workspace_id: UUID) -> Balances | None:
    """The counters of a contract. None before it is active."""
    row = await read.find(WorkspaceMoney, workspace_id=workspace_id)
    return None if row is None else Balances.of(row)
