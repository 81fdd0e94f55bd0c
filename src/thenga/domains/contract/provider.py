"""Contract's ports, answered in this process."""

from uuid import UUID

from thenga.domains.contract import public
from thenga.domains.contract.services import ledger, suppliers
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host


class LocalRelationships(public.Relationships):
    """Whether a supplier worked for an organization on a contract."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Relationships)

    async def verify(
        self, *, organization_id: UUID, supplier_id: UUID, workspace_id: UUID
    ) -> public.Relationship:
        async with self._answering.reading(organization_id) as read:
            return await suppliers.relationship_of(
                read, supplier_id=supplier_id, workspace_id=workspace_id
            )


class LocalCashPlans(public.CashPlans):
    """The money that a contract brings and costs."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.CashPlans)

    async def describe(
        self, *, organization_id: UUID, workspace_id: UUID, version: int | None = None
    ) -> public.CashPlan | None:
        async with self._answering.reading(organization_id) as read:
            return await ledger.describe_cash_plan(read, workspace_id, version=version)
