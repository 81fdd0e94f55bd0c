"""Counters of a contract's money: opened at activation, locked and moved with each cause (CON-18).

The service refuses first; a constraint of the database that is reached is a defect (CON-27).
"""

from fractions import Fraction
from uuid import UUID

from thenga.domains.contract.services.ledger.balances import Balances
from thenga.domains.contract.tables import Workspace, WorkspaceMoney
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem
from thenga.kernel.values.money import Money


class ContractNotActive(Problem):
    """The contract must be active first. Sign and activate it, or resume it if it is suspended."""

    code, status, title = "contract-not-active", 409, "This contract is not active"


async def open_money(work: Work, workspace: Workspace) -> WorkspaceMoney:
    """Open the counters of a contract that has just become active."""
    terms = Terms.of_row(workspace.terms)
    value = Money(workspace.contract_value_minor, workspace.currency)
    return await work.add(
        WorkspaceMoney(
            organization_id=workspace.organization_id,
            workspace_id=workspace.id,
            currency=workspace.currency,
            value_minor=value.minor,
            advance_due_minor=value.times(Fraction(terms.advance.percent) / 100).minor,
            retention_cap_minor=retention_cap(terms, value).minor,
        )
    )


def retention_cap(terms: Terms, value: Money) -> Money:
    """The most that the buyer may retain; without a cap the same share of the whole value."""
    percent = terms.retention.cap_percent or terms.retention.percent
    return value.times(Fraction(percent) / 100)


async def lock_money(work: Work, workspace_id: UUID) -> WorkspaceMoney:
    """The locked counters; everything that moves money of a contract waits here."""
    if await work.find(WorkspaceMoney, workspace_id=workspace_id) is None:
        raise ContractNotActive()
    return await work.lock_by(WorkspaceMoney, beside=True, workspace_id=workspace_id)


def refresh_cap(money: WorkspaceMoney, terms: Terms) -> None:
    """The cap follows the value and never falls below what is retained (CON-16)."""
    cap = retention_cap(terms, Money(money.value_minor, money.currency))
    money.retention_cap_minor = max(cap.minor, money.retained_minor)


async def change_value(
    work: Work, money: WorkspaceMoney, *, delta: Money, terms: Terms
) -> Balances:
    """Apply an executed variation: the value, the sum of increases and the retention cap."""
    money.value_minor += delta.minor
    money.increases_minor += max(delta.minor, 0)
    refresh_cap(money, terms)
    await work.save(money)
    return Balances.of(money)
