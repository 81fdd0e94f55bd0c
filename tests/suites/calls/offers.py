"""Calls of offers, vehicles, projects and those who confirm them."""

from typing import Any
from uuid import UUID

from tests.factories import identity, organization
from tests.factories.identity import Person
from tests.suites.calls.sending import (
    Body,
    Ids,
    Maker,
    Sent,
    filled,
    of_organization,
    of_person,
    stating,
)
from thenga.domains.organization.tables import (
    Capability,
    CapabilityVerification,
    FleetAsset,
    PastProject,
    PastProjectStatus,
    Product,
    ProductStatus,
    Record,
    Service,
    ServiceStatus,
)
from thenga.domains.organization.tables import ClientReferenceStatus as R
from thenga.domains.organization.tables import FleetAssetStatus as F
from thenga.kernel.process.host import Host

_EVERYWHERE = {"national": True, "provinces": [], "municipalities": []}
_GB = [{"scheme": "cidb", "code": "GB"}]
_MADE: dict[type[Record], dict[str, Any]] = {
    Service: {"name": "Cleaning of clinics *", "areas": _EVERYWHERE},
    Product: {"name": "Cement *", "areas": _EVERYWHERE},
    FleetAsset: {"name": "Tipper", "registration_number": "*", "licence_expires_on": "2199-12-31"},
    Capability: {"title": "Building of clinics *", "classifications": _GB},
    PastProject: {
        "title": "Bridge at Ulundi *",
        "client_name": "Zululand District Municipality *",
        "started_on": "2020-01-01",
        "completed_on": "2021-01-01",
        "value_minor": 100,
        "value_currency": "ZAR",
    },
}


async def made(
    host: Host, row: type[Record], who: Person, organization_id: UUID, **state: Any
) -> Record:
    """A record that stands in the state named."""
    fields = organization.dated(filled(_MADE[row])) | state
    return await organization.record(host, row, organization_id, who.user_id, **fields)


def on(row: type[Record], parameter: str, given: Body = None, **state: Any) -> Maker:
    """A call on a record that stands in the state named."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        record = await made(host, row, who, organization_id, **state)
        body = given and filled(given)
        return Sent({"organizationId": organization_id, parameter: record.id}, lambda _: body)

    return make


def _family(
    one: str, many: str, row: type[Record], parameter: str, change: Body
) -> dict[str, Maker]:
    """The calls that every collection of records has, but for adding to it."""
    return {
        f"list_{many}": of_organization,
        f"get_{one}": on(row, parameter),
        f"list_{one}_versions": on(row, parameter),
        f"get_{one}_version": on(row, parameter),
        f"change_{one}": on(row, parameter, change),
    }


async def _parking(host: Host, who: Person, organization_id: UUID) -> Sent:
    """A vehicle that stands at an address of the company."""
    address = await organization.address(host, organization_id, who.user_id)
    given = {"name": "Bakkie *", "registrationNumber": "*", "licenceExpiresOn": "2199-12-31"}
    said = filled(given)

    def body(ids: Ids) -> dict[str, Any]:
        return said | {"locationAddressId": str(ids["locationAddressId"])}

    return Sent({"organizationId": organization_id, "locationAddressId": address.id}, body)


async def _evidence(host: Host, who: Person, organization_id: UUID) -> list[dict[str, str]]:
    machine = await organization.equipment(host, organization_id, who.user_id)
    return [{"domain": "organization", "type": "equipment", "id": str(machine.id)}]


async def _claiming(host: Host, who: Person, organization_id: UUID) -> Sent:
    """A claim whose evidence is a machine of the company."""
    (own,) = await _evidence(host, who, organization_id)
    said = filled({"title": "Building of clinics *"}) | {"classifications": _GB}

    def body(ids: Ids) -> dict[str, Any]:
        return said | {"evidenceRefs": [own | {"id": str(ids["evidence"])}]}

    return Sent({"organizationId": organization_id, "evidence": UUID(own["id"])}, body)


def _proving(status: CapabilityVerification, *, by_staff: bool) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        refs = await _evidence(host, who, organization_id)
        row = await made(
            host,
            Capability,
            who,
            organization_id,
            evidence_refs=refs,
            verification_status=status,
        )
        ids = {"organizationId": organization_id, "capabilityId": row.id}
        return await _by_staff(host, ids) if by_staff else Sent(ids)

    return make


async def _by_staff(host: Host, ids: dict[str, UUID]) -> Sent:
    curator = await identity.staff(host, "platform_curator")
    given = {"outcome": "verified", "method": "manual", "source": {"reference": "register"}}
    body = given | filled({"note": "Found in the register under entry */2026"})
    return Sent(ids, lambda _: body, curator.headers, by_staff=True)


async def _checking(host: Host, who: Person, organization_id: UUID) -> Sent:
    project = await made(host, PastProject, who, organization_id)
    return await _by_staff(host, {"organizationId": organization_id, "pastProjectId": project.id})


async def _referring(host: Host, who: Person, organization_id: UUID) -> Sent:
    project = await made(host, PastProject, who, organization_id)
    said = filled({"contactName": "Thabo Molefe *", "contactEmail": "t*@client.example"})

    def body(ids: Ids) -> dict[str, Any]:
        return said | {"pastProjectId": str(ids["pastProjectId"])}

    return Sent({"organizationId": organization_id, "pastProjectId": project.id}, body)


def _on_reference(given: Body = None, status: R = R.DRAFT) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        project = await made(host, PastProject, who, organization_id)
        row = await organization.client_reference(
            host, organization_id, who.user_id, past_project_id=project.id, status=status
        )
        body = given and filled(given)
        ids = {"organizationId": organization_id, "clientReferenceId": row.id}
        return Sent(ids, lambda _: body)

    return make


_PROJECT = {
    "title": "Bridge at Ulundi *",
    "clientName": "Zululand District Municipality *",
    "startedOn": "2020-01-01",
}
_UNDER_REVIEW = CapabilityVerification.UNDER_REVIEW

MAKERS: dict[str, Maker] = {
    "list_classifications": of_person,
    "add_service": stating({"name": "Cleaning *"}),
    **_family("service", "services", Service, "serviceId", {"name": "Cleaning of offices *"}),
    "archive_service": on(Service, "serviceId"),
    "activate_service": on(Service, "serviceId"),
    "discontinue_service": on(Service, "serviceId", status=ServiceStatus.ACTIVE),
    "add_product": stating({"name": "Cement *"}),
    **_family("product", "products", Product, "productId", {"name": "Cement in bags *"}),
    "archive_product": on(Product, "productId"),
    "activate_product": on(Product, "productId"),
    "discontinue_product": on(Product, "productId", status=ProductStatus.ACTIVE),
    "claim_capability": _claiming,
    **_family(
        "capability", "capabilities", Capability, "capabilityId", {"title": "Building of schools *"}
    ),
    "archive_capability": on(Capability, "capabilityId"),
    "withdraw_capability": on(Capability, "capabilityId"),
    "request_capability_review": _proving(CapabilityVerification.EVIDENCE_ATTACHED, by_staff=False),
    "verify_capability": _proving(_UNDER_REVIEW, by_staff=True),
    "add_fleet_asset": _parking,
    **_family(
        "fleet_asset", "fleet_assets", FleetAsset, "fleetAssetId", {"name": "Tipper truck *"}
    ),
    "archive_fleet_asset": on(FleetAsset, "fleetAssetId"),
    "assign_fleet_asset": on(FleetAsset, "fleetAssetId"),
    "release_fleet_asset": on(FleetAsset, "fleetAssetId", status=F.IN_USE),
    "maintain_fleet_asset": on(FleetAsset, "fleetAssetId"),
    "return_fleet_asset": on(FleetAsset, "fleetAssetId", status=F.MAINTENANCE),
    "retire_fleet_asset": on(FleetAsset, "fleetAssetId"),
    "add_past_project": stating(_PROJECT),
    **_family(
        "past_project",
        "past_projects",
        PastProject,
        "pastProjectId",
        {"title": "Road bridge at Ulundi *"},
    ),
    "remove_past_project": on(PastProject, "pastProjectId"),
    "publish_past_project": on(PastProject, "pastProjectId"),
    "archive_past_project": on(PastProject, "pastProjectId", status=PastProjectStatus.PUBLISHED),
    "verify_past_project": _checking,
    "add_client_reference": _referring,
    "list_client_references": of_organization,
    "get_client_reference": _on_reference(),
    "list_client_reference_versions": _on_reference(),
    "get_client_reference_version": _on_reference(),
    "change_client_reference": _on_reference({"message": "Good day *"}),
    "archive_client_reference": _on_reference(),
    "withdraw_client_reference": _on_reference(status=R.REQUESTED),
    "erase_client_reference": _on_reference(),
}
