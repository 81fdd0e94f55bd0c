"""Suppliers and capabilities, made by the services."""

from typing import Any
from uuid import UUID

from thenga.domains.organization import public as organization
from thenga.domains.supplier.reactions import reactions
from thenga.domains.supplier.schemas.capabilities import DeclareCapability
from thenga.domains.supplier.schemas.suppliers import RegisterSupplier
from thenga.domains.supplier.services import capabilities, suppliers
from thenga.domains.supplier.tables import Capability, Supplier
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope, Event
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

CATEGORY = UUID("019a0000-0000-7000-8000-0000000ca7e1")  # a category of the marketplace
OWN: dict[str, Any] = {
    "kind": "own",
    "categoryIds": [str(CATEGORY)],
    "areas": {"provinces": ["GP"], "municipalities": ["EKU"]},
}
EXTERNAL: dict[str, Any] = {
    "kind": "external",
    "name": "Kagiso Pipes",
    "registrationNumber": "2014/123456/07",
    "vatStatus": "vendor",
    "contact": {
        "name": "Nomsa Dube",
        "email": "orders@kagisopipes.example",
        "phone": "+27 11 555 0134",
    },
    "note": "Delivers within two days. Ask for the bulk price.",
}
PIPES: dict[str, Any] = {
    "title": "Concrete pipes up to 900 mm",
    "description": "Made to SANS 677 and delivered to site.",
    "categoryIds": [str(CATEGORY)],
}


def working(host: Host, organization_id: UUID) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "supplier", Scope(actor=SYSTEM, organization_id=organization_id), origin)


async def supplier(host: Host, organization_id: UUID, **body: Any) -> Supplier:
    """An external supplier with a name of its own, or what `body` says."""
    given = {"kind": "external", "name": f"Kagiso Pipes {new_id().hex[-12:]}"} | body
    work = working(host, organization_id)
    made = await suppliers.register_supplier(work, RegisterSupplier.model_validate(given))
    await work.finish()
    return made


async def capability(host: Host, made: Supplier, **body: Any) -> Capability:
    """A capability of a supplier, stated by itself."""
    work = working(host, made.organization_id)
    given = DeclareCapability.model_validate(PIPES | body)
    declared, _ = await capabilities.declare_capability(work, made.id, given)
    await work.finish()
    return declared


async def hear(host: Host, organization_id: UUID, event: Event, *, sequence: int = 1) -> None:
    """React to an event of another domain, as the consumer would."""
    work = working(host, organization_id)
    work.envelope = Envelope(
        id=new_id(),
        type=event.type,
        source=f"/{event.domain()}",
        subject=event.aggregate,
        time=work.now,
        organizationid=organization_id,
        sequence=sequence,
        data=event.model_dump(mode="json", by_alias=True),
    )
    for reaction in reactions.all:
        if reaction.event_type == event.type:
            await reaction.handle(work, work.envelope)
    await work.finish()


def verified(
    organization_id: UUID, capability_id: UUID, **fields: Any
) -> organization.CapabilityVerified:
    """A capability of a profile that was found proven, as Organization publishes it."""
    given: dict[str, Any] = {
        "organization_id": organization_id,
        "capability_id": capability_id,
        "verification_status": "verified",
        "classifications": [organization.Classified(scheme="cidb", code="GB")],
        "cidb_designation": "6GB",
        "verified_until": None,
    }
    return organization.CapabilityVerified(**given | fields)
