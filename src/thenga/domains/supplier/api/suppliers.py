"""Suppliers: a company's own one, and the external ones that a customer registers."""

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field

from thenga.domains.organization.public import Card
from thenga.domains.supplier.api.capabilities import CapabilityView
from thenga.domains.supplier.lifecycles import SupplierLifecycle
from thenga.domains.supplier.permissions import Permission
from thenga.domains.supplier.schemas.suppliers import (
    ChangeSupplier,
    ExternalFields,
    RegisterSupplier,
    SupplierFields,
    SupplierFilters,
    SupplierId,
)
from thenga.domains.supplier.services import capabilities, suppliers
from thenga.domains.supplier.tables import Supplier, SupplierKind, SupplierStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.filters import filtered
from thenga.kernel.http.lists import paged
from thenga.kernel.http.moved import Moved
from thenga.kernel.http.reference import problems

router = make_router("Supplier / Suppliers")


class ProfileView(View):
    """The company of an own supplier, as its profile says now."""

    state: Annotated[
        Literal["live", "unavailable"],
        Field(description="`unavailable` while the profile does not answer."),
    ]
    display_name: Annotated[str | None, Field(description="Name of the company.")] = None
    legal_form: Annotated[str | None, Field(description="Legal form.")] = None
    registration_number: Annotated[str | None, Field(description="Registration number.")] = None
    provinces: Annotated[list[str], Field(description="Provinces that it works in.")] = []

    @classmethod
    def of_card(cls, card: Card | None) -> "ProfileView":
        if card is None:
            return cls(state="unavailable")
        return cls.model_validate({**dict(card), "state": "live"})


class SupplierView(SupplierFields, ExternalFields, Moved, lifecycle=SupplierLifecycle):
    """A supplier: a company's own one, or an external one that your organization registered."""

    organization_id: Annotated[
        UUID, Field(description="The company itself, or the customer of an external supplier.")
    ]
    kind: Annotated[SupplierKind, Field(description="Own or external.")]
    status: Annotated[SupplierStatus, Field(description="Status of the supplier.")]
    profile: Annotated[
        ProfileView | None, Field(description="Company of an own supplier. Null for external ones.")
    ]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/suppliers/{self.id}"

    @classmethod
    def shown_to(
        cls, supplier: Supplier, read: Reader, cards: dict[UUID, Card], **more: Any
    ) -> Self:
        """With its company as the profile says now; only the keeper is shown moves."""
        is_own = supplier.kind is SupplierKind.OWN
        card = cards.get(supplier.organization_id)
        if supplier.organization_id != read.organization_id:
            more["allowed_moves"] = []
        return cls.of(supplier, read, profile=ProfileView.of_card(card) if is_own else None, **more)


class SupplierDetails(SupplierView):
    """A supplier with what it can deliver."""

    capabilities: Annotated[
        list[CapabilityView], Field(description="What it can deliver, without withdrawn ones.")
    ]


async def _details(supplier: Supplier, read: Reader, cards: dict[UUID, Card]) -> SupplierDetails:
    able = await capabilities.capabilities_of(read, [supplier.id])
    declared = [CapabilityView.of_row(capability, read) for capability in able[supplier.id]]
    return SupplierDetails.shown_to(supplier, read, cards, capabilities=declared)


@router.post("/suppliers", status_code=201, responses=problems(Duplicate, RuleViolated))
async def register_supplier(
    body: RegisterSupplier, work: Annotated[Work, writes(Permission.SUPPLIER_CREATE)]
) -> SupplierDetails:
    """Register your own company as a supplier, once, or an external supplier that you buy from.

    Every organization can read your own supplier. Nobody else reads an external one.
    """
    cards = await suppliers.companies(work, [work.organization_id])
    return await _details(await suppliers.register_supplier(work, body), work, cards)


@router.get("/suppliers")
async def list_suppliers(
    read: Annotated[Reader, reads(Permission.SUPPLIER_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    filters: Annotated[SupplierFilters, filtered()],
) -> PageOf[SupplierView]:
    """List the suppliers of your organization: its own one and the external ones.

    To find suppliers of others, search the marketplace.
    """
    mine = filters.select().where(Supplier.organization_id == read.organization_id)
    cards = await suppliers.companies(read, [read.organization_id])
    return PageOf.of(await read.page(mine, page), SupplierView.shown_to, read, cards)


@router.get("/suppliers/{supplierId}")
async def get_supplier(
    supplier_id: SupplierId, read: Annotated[Reader, reads(Permission.SUPPLIER_READ)]
) -> SupplierDetails:
    """Get a supplier with what it can deliver: any company's own, or an external one of yours."""
    supplier = await read.get(Supplier, supplier_id)
    cards = await suppliers.companies(read, [supplier.organization_id])
    return await _details(supplier, read, cards)


@router.patch(
    "/suppliers/{supplierId}", responses=problems(Duplicate, InvalidTransition, RuleViolated)
)
async def change_supplier(
    supplier_id: SupplierId,
    body: ChangeSupplier,
    work: Annotated[Work, writes(Permission.SUPPLIER_UPDATE)],
) -> SupplierDetails:
    """Change a supplier of your organization, take it out of use, or take it back into use."""
    cards = await suppliers.companies(work, [work.organization_id])
    return await _details(await suppliers.change_supplier(work, supplier_id, body), work, cards)
