"""Organizations and machines as rows, without the events that would make a founder an owner."""

from typing import Any
from uuid import UUID

from thenga.domains.organization.services import organizations
from thenga.domains.organization.tables import Equipment, EquipmentStatus, Organization
from thenga.kernel.actors import Actor, ActorKind, Scope
from thenga.kernel.db.reader import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.host import Host
from thenga.kernel.ids import new_id


def working(host: Host, user_id: UUID, organization_id: UUID | None = None) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    actor = Actor(kind=ActorKind.USER, id=user_id)
    scope = Scope(actor=actor, organization_id=organization_id, user_id=user_id)
    return Work(host, "organization", scope, origin)


async def organization(
    host: Host, user_id: UUID, *, name: str = "Mokoena Plant Hire", mode: str = "live"
) -> Organization:
    """A company that this person founded."""
    work = working(host, user_id)
    made = await organizations.found(
        work,
        organization_type="enterprise",
        mode=mode,
        time_zone="Africa/Johannesburg",
        locale="en-ZA",
        profile={
            "legalName": name,
            "legalForm": "private_company",
            "tradingName": name,
            "description": name,
            "website": "https://mokoena.example",
        },
    )
    await work.finish()
    return made


async def equipment(
    host: Host,
    organization_id: UUID,
    user_id: UUID,
    *,
    status: EquipmentStatus = EquipmentStatus.AVAILABLE,
    **fields: Any,
) -> Equipment:
    """A machine of a company, in the state named."""
    known: dict[str, Any] = {"name": "TLB", "quantity": 1, "expiries": []} | fields
    work = working(host, user_id, organization_id)
    made = await work.add(
        Equipment(id=new_id(), organization_id=organization_id, status=status, **known)
    )
    await work.finish()
    return made
