"""Whether a supplier worked for us on a contract, as Supplier asks before a rating."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.contract import public
from thenga.domains.contract.tables import (
    Coordination,
    CoordinationStatus,
    Workspace,
    WorkspaceStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.calendar import HOME_ZONE, local_day

_NONE = public.Relationship(state="none")


async def relationship_of(
    read: Reader, *, supplier_id: UUID, workspace_id: UUID
) -> public.Relationship:
    """A package is the relationship; it is over when the package or its contract is."""
    workspace = await read.find(Workspace, id=workspace_id)
    statement = (
        select(Coordination)
        .where(Coordination.workspace_id == workspace_id)
        .where(Coordination.supplier_id == supplier_id)
        .where(Coordination.kind == "package")
        .where(Coordination.status != CoordinationStatus.CANCELLED)
        .order_by(Coordination.created_at.desc())
    )
    packages = await read.all(statement, limit=200)
    if workspace is None or not packages:
        return _NONE
    if workspace.status is WorkspaceStatus.TERMINATED:
        return public.Relationship(
            state="terminated", closed_on=workspace.terminated_on, strength="document"
        )
    if all(package.status is CoordinationStatus.CLOSED for package in packages):
        closed = max(package.status_changed_at or package.updated_at for package in packages)
        return public.Relationship(
            state="closed", closed_on=local_day(closed, HOME_ZONE), strength="document"
        )
    return public.Relationship(state="live", strength="document")
