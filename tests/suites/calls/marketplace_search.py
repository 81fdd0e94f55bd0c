"""Calls of Marketplace: search and matches."""

from typing import Any
from uuid import UUID

from tests.factories import marketplace_search as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

NEED: dict[str, Any] = {
    "text": "A partner who builds the roof of a school hall.",
    "area": {"province": "GP"},
    "requirements": [
        {"label": "CIDB 6GB", "cidb": {"worksClass": "GB", "minGrade": 6}},
        {"label": "Deliver to Ekurhuleni", "gate": "soft", "area": {"municipality": "EKU"}},
    ],
}


def _acting(organization_id: UUID) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)}


async def _found(host: Host) -> UUID:
    """A category in which another company has a listing."""
    category = await factory.category(host)
    await factory.listing(host, new_id(), [category.id])
    return category.id


async def _searched(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _found(host)
    return Sent({}, lambda _: None, _acting(organization_id))


async def _matching(host: Host, who: Person, organization_id: UUID) -> Sent:
    given = {"need": NEED | {"categoryIds": [str(await _found(host))]}}
    return Sent({}, lambda _: given, _acting(organization_id))


async def _listed(host: Host, who: Person, organization_id: UUID) -> Sent:
    await factory.match(host, organization_id)
    return Sent({}, lambda _: None, _acting(organization_id))


async def _matched(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.match(host, organization_id)
    return Sent({"matchId": made.id}, lambda _: None, _acting(organization_id))


MAKERS: dict[str, Maker] = {
    "list_search_results": _searched,
    "create_marketplace_match": _matching,
    "list_marketplace_matches": _listed,
    "get_marketplace_match": _matched,
}
