"""Suppliers as other domains ask for them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from thenga.domains.supplier import public
from thenga.domains.supplier.services import capabilities
from thenga.domains.supplier.tables import Capability, Supplier, SupplierKind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among


async def describe_suppliers(
    read: Reader, supplier_ids: Sequence[UUID]
) -> list[public.SupplierCard]:
    """The suppliers among these that the organization may read, with what they can deliver."""
    ids = list(dict.fromkeys(supplier_ids))
    found = await read.all(select(Supplier).where(among(Supplier.id, ids)).order_by(Supplier.id))
    able = await capabilities.capabilities_of(read, [supplier.id for supplier in found])
    return [_card(read, supplier, able[supplier.id]) for supplier in found]


def _card(read: Reader, supplier: Supplier, able: Sequence[Capability]) -> public.SupplierCard:
    own = supplier.kind is SupplierKind.OWN
    return public.SupplierCard(
        supplier_id=supplier.id,
        kind="own" if own else "external",
        organization_id=supplier.organization_id if own else None,
        name=supplier.name,
        status=supplier.status,
        accepts_quote_requests=supplier.accepts_quote_requests,
        capabilities=[
            public.CapabilityCard(
                id=capability.id,
                title=capability.title,
                category_ids=capability.category_ids,
                organization_capability_id=capability.organization_capability_id,
                verification=capabilities.verification_on(capability, read.now),
            )
            for capability in able
        ],
        as_of=read.now,
    )
