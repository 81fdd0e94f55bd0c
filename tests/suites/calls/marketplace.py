"""Calls of Marketplace: categories, and listings with their moderation."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from tests.factories import held, identity
from tests.factories import marketplace as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Maker, Sent
from thenga.domains.marketplace.tables.listings import Listing, ListingVersion
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


async def _provider(host: Host, organization_id: UUID) -> None:
    """A provider with a place for each listing of a walk."""
    await factory.provider(host, organization_id)
    await held.granted_once(host, organization_id, "marketplace.listings")


def _acting(organization_id: UUID) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)}


def _category() -> dict[str, Any]:
    return {"code": f"culverts-{new_id().hex[-12:]}", "names": {"en": "Culverts"}}


def _on_category(body: Body) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.category(host)  # of the platform, so it is nobody's identifier
        parts = {"categoryId": str(made.id)}
        return Sent({}, lambda _: body, _acting(organization_id), parts=parts)

    return sent


def _by_curator(body: Callable[[], dict[str, Any]], *, named: bool) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        ids = {"categoryId": (await factory.category(host)).id} if named else {}
        curator, given = await identity.staff(host, "platform_curator"), body()
        return Sent(ids, lambda _: given, curator.headers, by_staff=True)

    return sent


async def _list(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent({}, lambda _: None, _acting(organization_id))


async def _create(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _provider(host, organization_id)
    given = {"kind": "service", "content": await factory.content(host)}
    return Sent({}, lambda _: given, _acting(organization_id))


def _on_listing(body: Body, *, published: bool = False) -> Maker:
    """A call on a listing of the caller."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        await _provider(host, organization_id)
        make = factory.published if published else factory.listing
        made = await make(host, organization_id)
        return Sent({"listingId": made.id}, lambda _: body, _acting(organization_id))

    return sent


async def _verification(host: Host, who: Person, organization_id: UUID) -> Sent:
    """A served listing is for everybody, so it is nobody's identifier."""
    await _provider(host, organization_id)
    made = await factory.published(host, organization_id)
    parts = {"listingId": str(made.id)}
    return Sent({}, lambda _: None, _acting(organization_id), parts=parts)


async def _change(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _provider(host, organization_id)
    made = await factory.published(host, organization_id)
    given = {"content": await factory.content(host), "move": "pause"}
    return Sent({"listingId": made.id}, lambda _: given, _acting(organization_id))


async def _moderate(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _provider(host, organization_id)
    made = await factory.listing(host, organization_id)
    given = await _publication(host, made)
    curator = await identity.staff(host, "platform_curator")
    return Sent({"listingId": made.id}, lambda _: given, curator.headers, by_staff=True)


async def _publication(host: Host, made: Listing) -> dict[str, Any]:
    work = factory.working(host, made.organization_id)
    version = await work.find(ListingVersion, listing_id=made.id, number=1)
    await work.close()
    assert version is not None
    return {
        "versionNumber": 1,
        "contentHash": version.content_hash,
        "decision": "publish",
        "reasonCodes": ["in_order"],
    }


MAKERS: dict[str, Maker] = {
    "create_category": _by_curator(_category, named=False),
    "list_categories": _list,
    "get_category": _on_category(None),
    "change_category": _by_curator(lambda: {"names": {"en": "Box culverts"}}, named=True),
    "create_listing": _create,
    "list_listings": _list,
    "get_listing": _on_listing(None),
    "change_listing": _change,
    "change_listing_visibility": _on_listing({"visibility": "unlisted"}, published=True),
    "moderate_listing": _moderate,
    "get_verification_display": _verification,
}
