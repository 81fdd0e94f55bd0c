"""Calls of the record family: people and places of a company."""

import random
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
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
from thenga.domains.organization.tables import DirectorStatus, Record
from thenga.kernel.process.host import Host

Make = Callable[[Host, UUID, UUID], Awaitable[Record]]


def _on(make: Make, parameter: str, given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        row = await make(host, organization_id, who.user_id)
        body = given and filled(given)
        return Sent({"organizationId": organization_id, parameter: row.id}, lambda _: body)

    return sent


def _on_a_day(make: Make, field: str) -> Maker:
    """On a day of its own, so that two bodies differ."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        row = await make(host, organization_id, who.user_id)
        body = {field: str(date(2020, 1, 1) + timedelta(days=random.randrange(2000)))}
        return Sent({"organizationId": organization_id, "directorId": row.id}, lambda _: body)

    return sent


def _on_each(make: Make, parameter: str, *names: str) -> dict[str, Maker]:
    return {name: _on(make, parameter) for name in names}


async def _saying(host: Host, who: Person, organization_id: UUID) -> Sent:
    ref = await organization.member_ref(host, organization_id, who.user_id)
    assert ref.membership_id is not None
    title = filled({"jobTitle": "Estimator *"})

    def body(ids: Ids) -> dict[str, Any]:
        return title | {"membershipId": str(ids["membershipId"])}

    return Sent({"organizationId": organization_id, "membershipId": ref.membership_id}, body)


async def _checking(host: Host, who: Person, organization_id: UUID) -> Sent:
    director = await organization.director(host, organization_id, who.user_id)
    curator = await identity.staff(host, "platform_curator")
    source = {"register": "cipc_register"}
    check = filled({"outcome": "verified", "method": "registry", "note": "CoR39 *"})
    return Sent(
        {"organizationId": organization_id, "directorId": director.id},
        lambda _: check | {"source": source},
        headers=curator.headers,
        by_staff=True,
    )


async def _appointing(host: Host, who: Person, organization_id: UUID) -> Sent:
    fields = {"surname": "Mokoena *", "givenNames": "Sipho", "role": "director"}
    fields |= {"idType": "passport", "idNumber": "P*", "idCountry": "ZW"}
    body = filled(fields)
    return Sent({"organizationId": organization_id}, lambda _: body)


async def _resigned(host: Host, organization_id: UUID, user_id: UUID) -> Record:
    return await organization.director(
        host, organization_id, user_id, status=DirectorStatus.RESIGNED
    )


_ABROAD = {"kind": "branch", "line1": "* Main Mall", "city": "Gaborone", "country": "BW"}

MAKERS: dict[str, Maker] = {
    "add_organization_user": _saying,
    "list_organization_users": of_organization,
    "change_organization_user": _on(
        organization.organization_user, "organizationUserId", {"department": "Bids *"}
    ),
    "add_director": _appointing,
    "list_directors": of_organization,
    "change_director": _on(organization.director, "directorId", {"surname": "Mokoena *"}),
    "resign_director": _on_a_day(organization.director, "resignedOn"),
    "reappoint_director": _on_a_day(_resigned, "appointedOn"),
    "erase_director": _on(_resigned, "directorId"),
    "verify_director": _checking,
    "add_contact": stating({"kind": "bids", "name": "Thandi Nkosi *", "email": "t*@example.test"}),
    "list_contacts": of_organization,
    "change_contact": _on(organization.contact, "contactId", {"name": "Thandi Nkosi *"}),
    "add_address": stating(_ABROAD),
    "list_addresses": of_organization,
    "change_address": _on(organization.address, "addressId", {"line1": "* Main Mall"}),
    "list_municipalities": of_person,
}
MAKERS |= _on_each(
    organization.organization_user,
    "organizationUserId",
    *("get_organization_user", "archive_organization_user"),
    *("list_organization_user_versions", "get_organization_user_version"),
)
MAKERS |= _on_each(
    organization.director,
    "directorId",
    *("get_director", "archive_director", "list_director_versions", "get_director_version"),
)
MAKERS |= _on_each(
    organization.contact,
    "contactId",
    *("get_contact", "archive_contact", "erase_contact"),
    *("list_contact_versions", "get_contact_version"),
)
MAKERS |= _on_each(
    organization.address,
    "addressId",
    *("get_address", "archive_address", "list_address_versions", "get_address_version"),
)
