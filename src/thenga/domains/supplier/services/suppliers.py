"""Suppliers: a company's own one, and the external ones that a customer registers."""

from uuid import UUID

from pydantic import MISSING
from pydantic.alias_generators import to_camel

from thenga.domains.organization.public import Card, Profiles
from thenga.domains.supplier import public
from thenga.domains.supplier.lifecycles import SupplierLifecycle
from thenga.domains.supplier.schemas.suppliers import (
    ChangeSupplier,
    ExternalFields,
    RegisterSupplier,
)
from thenga.domains.supplier.tables import Supplier, SupplierKind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import NOT_STORED, merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated
from thenga.kernel.ports.asking import asking


async def register_supplier(work: Work, given: RegisterSupplier) -> Supplier:
    """Register the company itself, once, or an external supplier, once by its name."""
    _check_fields(given.kind, given)
    wanted = Supplier.of(
        given,
        organization_id=work.organization_id,
        shared=given.kind is SupplierKind.OWN,
        name_key=(given.name or "").casefold(),
    )
    supplier, is_new = await work.add_or_find(wanted, by=("organization_id", "kind", "name_key"))
    if not is_new:
        raise _duplicate_of(supplier)
    work.publish(public.SupplierRegistered.of(supplier))
    return supplier


async def change_supplier(work: Work, supplier_id: UUID, given: ChangeSupplier) -> Supplier:
    """Change the fields that were sent, and take it out of use or back."""
    supplier = await work.lock(Supplier, supplier_id)
    _check_fields(supplier.kind, given)
    if given.name not in (None, MISSING, supplier.name):
        await _rename(work, supplier, given.name)
    merge_patch(supplier, given, move=NOT_STORED)
    if given.move == "deactivate":
        SupplierLifecycle.deactivate.make(work, supplier)
    elif given.move == "reactivate":
        SupplierLifecycle.reactivate.make(work, supplier)
    if work.changes(supplier):
        await work.save(supplier)
        work.publish(public.SupplierChanged.of(supplier))
    return supplier


async def own_supplier(read: Reader) -> Supplier | None:
    """The supplier that the organization itself is."""
    mine = read.organization_id
    return await read.find(Supplier, organization_id=mine, kind=SupplierKind.OWN, name_key="")


async def companies(read: Reader, organization_ids: list[UUID]) -> dict[UUID, Card]:
    """Who these organizations are now; one without an answer is left out (SUP-1)."""
    cards: list[Card] = await asking(
        read, Profiles, lambda port: port.cards(organization_ids=organization_ids), silent=[]
    )
    return {card.organization_id: card for card in cards}


def _duplicate_of(supplier: Supplier) -> Duplicate:
    existing = {"domain": "supplier", "type": "supplier", "id": str(supplier.id)}
    return Duplicate("You have registered this supplier already.", existing=existing)


async def _rename(work: Work, supplier: Supplier, name: str) -> None:
    """Give an external supplier a name that no other one of this customer has."""
    supplier.name_key = name.casefold()
    mine = {"organization_id": work.organization_id, "kind": supplier.kind}
    other = await work.find(Supplier, **mine, name_key=supplier.name_key)
    if other is not None and other.id != supplier.id:
        raise _duplicate_of(other)


def _check_fields(kind: SupplierKind, given: RegisterSupplier | ChangeSupplier) -> None:
    """An own supplier points to its company (SUP-1); an external one has a name (SUP-2)."""
    if kind is SupplierKind.EXTERNAL:
        if given.name is None:
            raise RuleViolated("Name the external supplier.", rule="SUP-2", field="/name")
        return
    for name in ExternalFields.model_fields:
        if getattr(given, name) not in (None, MISSING):
            raise RuleViolated(
                "Only external suppliers have this field. Yours has the company's profile.",
                rule="SUP-1",
                field=f"/{to_camel(name)}",
            )
