"""Capabilities of suppliers."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.domains.supplier.permissions import Permission
from thenga.domains.supplier.public import Verification
from thenga.domains.supplier.schemas.capabilities import CapabilityFields, DeclareCapability
from thenga.domains.supplier.schemas.suppliers import SupplierId
from thenga.domains.supplier.services import capabilities
from thenga.domains.supplier.services.capabilities import CapabilityUnknown
from thenga.domains.supplier.tables import Capability
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import Known, Stored
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import writes
from thenga.kernel.http.reference import problems

router = make_router("Supplier / Capabilities")


class CapabilityView(CapabilityFields, Stored):
    """A capability of a supplier. Read it with its supplier."""

    supplier_id: Annotated[UUID, Field(description="Supplier that has it.")]
    verification: Annotated[
        Verification | None,
        Field(description="Verification by Organization. Null for a statement of the supplier."),
    ]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/suppliers/{self.supplier_id}"

    @classmethod
    def of_row(cls, capability: Capability, read: Reader) -> "CapabilityView":
        now = capabilities.verification_on(capability, read.now)
        return cls.of(capability, verification=now)


@router.post(
    "/suppliers/{supplierId}/capabilities",
    status_code=201,
    responses=problems(CapabilityUnknown, RuleViolated),
)
async def add_supplier_capability(
    supplier_id: SupplierId,
    body: DeclareCapability,
    work: Annotated[Work, writes(Permission.CAPABILITY_CREATE)],
) -> CapabilityView | Known[CapabilityView]:
    """Declare what a supplier can deliver.

    The same title changes the capability that has it. Only your own supplier and your own external
    suppliers take capabilities. One that names a capability of your company's profile shows the
    verification there.
    """
    capability, is_new = await capabilities.declare_capability(work, supplier_id, body)
    view = CapabilityView.of_row(capability, work)
    return view if is_new else Known(view)
