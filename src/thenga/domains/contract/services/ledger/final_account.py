"""The final account: what was agreed against what was claimed; a difference is named (CON-42)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from thenga.domains.contract.services.ledger.balances import money_of
from thenga.domains.contract.tables import Invoice, InvoiceStatus, Workspace
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.values.money import Money

_DONE = (InvoiceStatus.SETTLED.value, InvoiceStatus.CREDITED.value)


@dataclass(frozen=True, slots=True)
class FinalAccount:
    """Both sides of the final account. Closing needs `unclaimed` to be 0."""

    original_value: Money
    variations: Money
    adjustments: Money
    claimed: Money

    @property
    def agreed(self) -> Money:
        return self.original_value + self.variations + self.adjustments

    @property
    def unclaimed(self) -> Money:
        return self.agreed - self.claimed


def balance_account(
    *, original_value: Money, current_value: Money, claimed: Money, adjustments: Sequence[Money]
) -> FinalAccount:
    """The account of a contract whose executed variations led to its current value."""
    nothing = Money(0, original_value.currency)
    return FinalAccount(
        original_value, current_value - original_value, sum(adjustments, nothing), claimed
    )


@dataclass(frozen=True, slots=True)
class OpenMoney:
    """What still stands between a contract and its end."""

    claimed: Money
    unsettled_invoices: int
    disputed_invoices: int
    retention: Money
    advance: Money


async def open_money_of(read: Reader, workspace: Workspace) -> OpenMoney:
    """Invoices that are not settled, retention not released and advance not recovered."""
    table = Invoice.__table__
    claimed = func.coalesce(func.sum(table.c.payable_minor - table.c.credited_minor), 0)
    statement = (
        select(
            claimed.label("claimed"),
            func.count().filter(~among(table.c.status, _DONE)).label("unsettled"),
            func.count().filter(table.c.disputed_minor > 0).label("disputed"),
        )
        .where(table.c.organization_id == read.organization_id)
        .where(table.c.workspace_id == workspace.id)
        .where(table.c.number.is_not(None))
    )
    (found,) = await read.records(statement)
    balances = await money_of(read, workspace.id)
    nothing = Money(0, workspace.currency)
    return OpenMoney(
        claimed=Money(int(found["claimed"]), workspace.currency),
        unsettled_invoices=found["unsettled"],
        disputed_invoices=found["disputed"],
        retention=nothing if balances is None else balances.retained - balances.released,
        advance=nothing if balances is None else balances.advance_billed - balances.recovered,
    )


async def final_account(
    read: Reader, workspace: Workspace, adjustments: Sequence[Money]
) -> FinalAccount:
    """The final account of a contract as it stands now."""
    money = await open_money_of(read, workspace)
    return balance_account(
        original_value=Money(workspace.contract_value_minor, workspace.currency),
        current_value=Money(workspace.current_value_minor, workspace.currency),
        claimed=money.claimed,
        adjustments=adjustments,
    )
