"""Fields, bodies and filters of suppliers."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path
from pydantic import MISSING, BaseModel, Field

from thenga.domains.supplier.tables import Supplier, SupplierKind, SupplierStatus, VatVendorStatus
from thenga.domains.supplier.values.contacts import Contact
from thenga.domains.supplier.values.service_areas import ServiceArea
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.filters import Filters, contains
from thenga.kernel.values.fields import lines, text

SupplierId = Annotated[UUID, Path(alias="supplierId", description="ID of the supplier.")]
CategoryIds = Annotated[
    list[UUID], Field(max_length=20, description="Marketplace categories that it supplies.")
]
Areas = Annotated[ServiceArea, Field(description="Where it delivers.")]
Accepts = Annotated[bool, Field(description="Whether customers may ask it for quotes.")]
SupplierName = Annotated[
    Annotated[str, text(1, 160)] | None, Field(description="Name of an external supplier.")
]
RegistrationNumber = Annotated[
    Annotated[str, text(1, 40)] | None,
    Field(description="Registration number of an external supplier, as you know it."),
]
Vat = Annotated[
    VatVendorStatus | None, Field(description="Whether an external supplier charges VAT.")
]
ContactField = Annotated[Contact | None, Field(description="Person at an external supplier.")]
OwnNote = Annotated[
    Annotated[str, lines(1, 2000)] | None, Field(description="Your note on an external supplier.")
]


class SupplierFields(BaseModel):
    """What every supplier has."""

    category_ids: CategoryIds = []
    areas: Areas = ServiceArea()
    accepts_quote_requests: Accepts = True


class ExternalFields(BaseModel):
    """What a customer states about an external supplier; an own one has none of it."""

    name: SupplierName = None
    registration_number: RegistrationNumber = None
    vat_status: Vat = None
    contact: ContactField = None
    note: OwnNote = None


class RegisterSupplier(SupplierFields, ExternalFields, Body):
    """Your own company as a supplier, or an external supplier that you buy from."""

    kind: Annotated[SupplierKind, Field(description="Your own company, or an external supplier.")]


class ChangeSupplier(Body):
    """Fields to update, and at most one move."""

    category_ids: CategoryIds | MISSING = MISSING
    areas: Areas | MISSING = MISSING
    accepts_quote_requests: Accepts | MISSING = MISSING
    name: SupplierName | MISSING = MISSING
    registration_number: RegistrationNumber | MISSING = MISSING
    vat_status: Vat | MISSING = MISSING
    contact: ContactField | MISSING = MISSING
    note: OwnNote | MISSING = MISSING
    move: Annotated[
        Literal["deactivate", "reactivate"] | MISSING, Field(description="Move to make.")
    ] = MISSING


class SupplierFilters(Filters[Supplier]):
    """What suppliers are listed."""

    kind: SupplierKind | None = None
    status: SupplierStatus | None = None
    category_id: Annotated[UUID | None, contains(Supplier.category_ids)] = None
    q: Annotated[Annotated[str, text(2, 100)] | None, contains(Supplier.name)] = None
