"""Organizations and machines as rows, without the events that would make a founder an owner."""

from datetime import date
from typing import Any, TypeVar
from uuid import UUID

from thenga.domains.organization.services.facts import Given, member_refs
from thenga.domains.organization.services.organizations import organizations
from thenga.domains.organization.services.people import (
    addresses,
    client_references,
    contacts,
    directors,
)
from thenga.domains.organization.services.records import records
from thenga.domains.organization.tables import (
    Address,
    ClientReference,
    Contact,
    Director,
    Disclosure,
    Equipment,
    EquipmentStatus,
    MemberRef,
    Organization,
    OrganizationUser,
    Record,
)
from thenga.kernel.access.actors import Actor, ActorKind, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


def working(host: Host, user_id: UUID, organization_id: UUID | None = None) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    actor = Actor(kind=ActorKind.USER, id=user_id)
    scope = Scope(actor=actor, organization_id=organization_id, user_id=user_id)
    return Work(host, "organization", scope, origin)


async def organization(
    host: Host,
    user_id: UUID,
    *,
    name: str = "Mokoena Plant Hire",
    mode: str = "live",
    time_zone: str = "Africa/Johannesburg",
) -> Organization:
    """A company that this person founded."""
    work = working(host, user_id)
    made = await organizations.create_organization(
        work,
        organization_type="enterprise",
        mode=mode,
        time_zone=time_zone,
        locale="en-ZA",
        profile={
            "legalName": Given(name),
            "legalForm": Given("private_company"),
            "tradingName": Given(name),
            "description": Given(name),
            "website": Given("https://mokoena.example"),
        },
    )
    # Whoever calls makes the members too; Identity would stumble over a founder who is one.
    work._events.clear()
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
    made = Equipment(id=new_id(), organization_id=organization_id, status=status, **known)
    await records.add(work, made)
    await work.finish()
    return made


async def address(host: Host, organization_id: UUID, user_id: UUID, **fields: Any) -> Address:
    """A place of a company, abroad, so that it needs no catalogue."""
    known = {"kind": "branch", "line1": "1 Main Mall", "city": "Gaborone", "country": "BW"}
    work = working(host, user_id, organization_id)
    made = await addresses.add_address(work, fields=known | fields)
    await work.finish()
    return made


async def contact(host: Host, organization_id: UUID, user_id: UUID, **fields: Any) -> Contact:
    """Whom to reach at a company."""
    known = {"kind": "bids", "name": "Thandi Nkosi", "email": f"{new_id()}@example.test"}
    work = working(host, user_id, organization_id)
    made = await contacts.add_contact(work, fields=known | fields)
    await work.finish()
    return made


async def director(host: Host, organization_id: UUID, user_id: UUID, **fields: Any) -> Director:
    """A director of a company, by a passport of their own."""
    known = {"given_names": "Sipho", "surname": "Mokoena", "role": "director"}
    known |= {"id_type": "passport", "id_country": "ZW"}
    work = working(host, user_id, organization_id)
    made = await directors.add(work, id_number=f"P{new_id().hex[-18:]}", fields=known | fields)
    await work.finish()
    return made


async def member_ref(host: Host, organization_id: UUID, user_id: UUID) -> MemberRef:
    """A member as Organization knows one; the membership is made up."""
    work = working(host, user_id, organization_id)
    made = await member_refs.follow_membership(
        work, membership_id=new_id(), user_id=user_id, status="active", owner=False, sequence=1
    )
    await work.finish()
    assert made is not None
    return made


async def organization_user(
    host: Host, organization_id: UUID, user_id: UUID, **fields: Any
) -> OrganizationUser:
    """What a company says of a member."""
    ref = await member_ref(host, organization_id, user_id)
    work = working(host, user_id, organization_id)
    known = {"job_title": "Estimator", "bid_roles": ["estimator"]} | fields
    made = OrganizationUser(organization_id=organization_id, member_ref_id=ref.id, **known)
    await records.add(work, made)
    await work.finish()
    return made


R = TypeVar("R", bound=Record)


async def record(
    host: Host, row: type[R], organization_id: UUID, user_id: UUID, **fields: Any
) -> R:
    """Any record of a company, with the columns named."""
    work = working(host, user_id, organization_id)
    made = row(id=new_id(), organization_id=organization_id, **fields)
    await records.add(work, made)
    await work.finish()
    return made


def dated(fields: dict[str, Any]) -> dict[str, Any]:
    """Columns in which days are written as text."""
    days = {name for name in fields if name.endswith("_on")}
    return {n: date.fromisoformat(v) if n in days else v for n, v in fields.items()}


async def client_reference(
    host: Host,
    organization_id: UUID,
    user_id: UUID,
    *,
    past_project_id: UUID,
    email: str = "thabo@emfuleni.gov.za",
    **fields: Any,
) -> ClientReference:
    """A client who can confirm a project, in the state named."""
    work = working(host, user_id, organization_id)
    made = new_id()
    contact = {"contact_name": "Thabo", "contact_email": email}
    row = ClientReference(
        id=made,
        organization_id=organization_id,
        past_project_id=past_project_id,
        contact=await client_references._sealed(work, made, contact, 1),
        contact_index=client_references._index(work, email),
        **fields,
    )
    await records.add(work, row)
    await work.finish()
    return row


async def disclosure(host: Host, organization_id: UUID, user_id: UUID) -> Disclosure:
    """That a form was given the tax number of a company."""
    work = working(host, user_id, organization_id)
    named = {"type": "fact", "id": f"{organization_id}:incomeTaxNumber", "version": 1}
    made = await work.add(
        Disclosure(
            organization_id=organization_id,
            purpose="bid_form",
            subjects=[named | {"fields": ["incomeTaxNumber"]}],
            reference={"domain": "bid", "type": "sbdForm", "id": str(new_id()), "version": 1},
            on_behalf_of=user_id,
            command_key=str(new_id()),
        )
    )
    await work.finish()
    return made
