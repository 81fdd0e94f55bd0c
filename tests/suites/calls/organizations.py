"""Calls of organizations and their machines."""

from uuid import UUID, uuid4

from tests.factories import organization
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Maker, Sent, filled, of_organization, stating
from thenga.domains.organization.tables import EquipmentStatus as E
from thenga.kernel.process.host import Host


def _on_machine(status: E = E.AVAILABLE, given: Body = None) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        item = await organization.equipment(host, organization_id, who.user_id, status=status)
        body = given and filled(given)
        return Sent({"organizationId": organization_id, "equipmentId": item.id}, lambda _: body)

    return make


async def _founding(host: Host, who: Person, organization_id: UUID) -> Sent:
    profile = {"legalName": f"Mokoena Civils {uuid4().hex[:12]}", "legalForm": "private_company"}
    return Sent(body=lambda _: {"organizationType": "enterprise", "profile": profile})


MAKERS: dict[str, Maker] = {
    "create_organization": _founding,
    "get_organization": of_organization,
    "change_profile": stating({"tradingName": "Mokoena Plant Hire *"}),
    "move_clock": stating({"forwardSeconds": range(1, 86_400)}),
    "add_equipment": stating({"name": "Crane *", "quantity": 1, "serialNumber": "SN-*"}),
    "list_equipment": of_organization,
    "get_equipment": _on_machine(),
    "list_equipment_versions": _on_machine(),
    "get_equipment_version": _on_machine(),
    "change_equipment": _on_machine(given={"name": "Crawler crane *", "quantity": 2}),
    "archive_equipment": _on_machine(),
    "assign_equipment": _on_machine(),
    "release_equipment": _on_machine(E.IN_USE),
    "maintain_equipment": _on_machine(),
    "return_equipment": _on_machine(E.MAINTENANCE),
    "retire_equipment": _on_machine(),
}
