"""Suppliers and what they can deliver."""

from enum import StrEnum
from uuid import UUID

from thenga.domains.supplier.public import Verification
from thenga.domains.supplier.values.contacts import Contact
from thenga.domains.supplier.values.service_areas import ServiceArea
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, KnownTenant, NoticeRow, col


class Tenant(
    KnownTenant, table="supplier.tenant", kind=Kind.PRIVATE, unique=[("organization_id",)]
):
    """An organization, and whether it is a sandbox."""


class SupplierKind(StrEnum):
    """Whether a company registered itself, or a customer registered somebody it buys from."""

    OWN = "own"
    EXTERNAL = "external"


class SupplierStatus(StrEnum):
    """Status of a supplier."""

    ACTIVE = "active"
    INACTIVE = "inactive"


class VatVendorStatus(StrEnum):
    """Whether an external supplier charges VAT, as the customer states it."""

    VENDOR = "vendor"
    NON_VENDOR = "non_vendor"
    UNKNOWN = "unknown"


class Supplier(
    NoticeRow,
    table="supplier.supplier",
    kind=Kind.NOTICE,
    unique=[("organization_id", "kind", "name_key")],
):
    """A company's own supplier, which everybody reads, or an external one of its keeper alone.

    An own one has no name: it points to its organization, once (SUP-1). An external one is what
    one customer states about somebody, never compared with the statements of others (SUP-2).
    """

    kind: Col[SupplierKind]
    name_key: Col[str]  # the folded name of an external one, empty for an own one
    name: Col[str | None]
    registration_number: Col[str | None]
    vat_status: Col[VatVendorStatus | None]
    contact: Col[Contact | None]
    note: Col[str | None]
    category_ids: Col[list[UUID]]
    areas: Col[ServiceArea]
    accepts_quote_requests: Col[bool]
    linked_to: Col[UUID | None]  # the own supplier that an external one turned out to be
    status: Col[SupplierStatus] = col(default=SupplierStatus.ACTIVE)


class Capability(
    NoticeRow,
    table="supplier.capability",
    kind=Kind.NOTICE,
    unique=[("organization_id", "supplier_id", "title_key")],
    indexes=[("supplier_id",), ("organization_id", "organization_capability_id")],
):
    """What a supplier says it can deliver; what verifies it is Organization's alone (SUP-6)."""

    supplier_id: Col[UUID]
    title: Col[str]
    title_key: Col[str]
    description: Col[str | None]
    category_ids: Col[list[UUID]]
    organization_capability_id: Col[UUID | None]
    verification: Col[Verification | None]
    verification_sequence: Col[int] = col(default=0)
    withdrawn: Col[bool]
