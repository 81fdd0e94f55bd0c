"""The contract that somebody reads or writes to, and what its status allows."""

from uuid import UUID

from pydantic.alias_generators import to_camel

from thenga.domains.contract.lifecycles import WorkspaceLifecycle
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.tables import Workspace
from thenga.domains.contract.values.refusals import invalid
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem
from thenga.kernel.values.money import Money


class ContractOver(Problem):
    """A closed or cancelled contract cannot be changed. If it is closed, reopen its closeout."""

    code, status, title = "contract-closed", 409, "This contract is closed"


async def seen_workspace(read: Reader, workspace_id: UUID) -> Workspace:
    """The contract, for reading."""
    return await read.get(Workspace, workspace_id)


async def workspace_for(work: Work, workspace_id: UUID) -> Workspace:
    """The contract, locked; every change below one does this first.

    Events of this work carry the correlation id of the award from now on (CON-1).
    """
    workspace = await work.lock(Workspace, workspace_id, beside=True)
    return checked(work, workspace)


async def active_workspace_for(work: Work, workspace_id: UUID) -> Workspace:
    """As `workspace_for`, of a contract that is or was in force."""
    workspace = await workspace_for(work, workspace_id)
    if workspace.status not in WorkspaceLifecycle.RUNNING:
        raise ContractNotActive()
    return workspace


def checked(work: Work, workspace: Workspace) -> Workspace:
    """Refuse a contract that is over."""
    if workspace.status in WorkspaceLifecycle.OVER:
        raise ContractOver()
    carry_correlation(work, workspace)
    return workspace


def carry_correlation(work: Work, workspace: Workspace) -> None:
    """Events of a contract have one correlation id, from the award to the final account."""
    work.origin.correlation_id = workspace.correlation_id


def check_currency(workspace: Workspace, amount: Money | None, field: str) -> Money | None:
    """A contract has one currency; an amount in another one is refused."""
    if amount is not None and amount.currency != workspace.currency:
        detail = f"Send the amount in {workspace.currency}, the currency of the contract."
        raise invalid(f"/{to_camel(field)}", detail, "currency")
    return amount
