"""Supplier's port, answered in this process."""

from uuid import UUID

from thenga.domains.supplier import public
from thenga.domains.supplier.services import describing, suppliers
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host


class LocalSuppliers(public.Suppliers):
    """Who supplies, as one organization may read it."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Suppliers)

    async def describe(
        self, *, organization_id: UUID, supplier_ids: list[UUID]
    ) -> list[public.SupplierCard]:
        async with self._answering.reading(organization_id) as read:
            return await describing.describe_suppliers(read, supplier_ids)

    async def of_organization(self, *, organization_id: UUID) -> UUID | None:
        async with self._answering.reading(organization_id) as read:
            supplier = await suppliers.own_supplier(read)
            return None if supplier is None else supplier.id
