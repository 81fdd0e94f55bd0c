"""Calls of Marketplace: quote requests, support requests and recommendation displays."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.factories import identity
from tests.factories import marketplace_requests as factory
from tests.factories import supplier as suppliers
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Maker, Sent
from thenga.domains.marketplace.tables.quote_requests import QuoteRequest
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


def _acting(organization_id: UUID, **more: str) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id), **more}


async def _asking(host: Host, who: Person, organization_id: UUID) -> Sent:
    """A draft to an external supplier of the caller."""
    asked = await suppliers.supplier(host, organization_id)
    due_at = (host.now() + timedelta(days=14)).isoformat().replace("+00:00", "Z")
    body = factory.asking(asked.id, dueAt=due_at)
    return Sent({}, lambda _: body, _acting(organization_id))


async def _draft(host: Host, organization_id: UUID) -> QuoteRequest:
    asked = await suppliers.supplier(host, organization_id)
    return await factory.draft(host, organization_id, asked.id)


def _on_request(body: Body, *, changes: bool = False) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await _draft(host, organization_id)
        more = {"If-Match": f'"{made.version}"'} if changes else {}
        return Sent({"quoteRequestId": made.id}, lambda _: body, _acting(organization_id, **more))

    return sent


async def _appealing(host: Host, who: Person, organization_id: UUID) -> Sent:
    listing = await factory.decided_listing(host, organization_id, new_id())
    body: dict[str, Any] = {
        "kind": "appeal_moderation",
        "about": factory.LISTED | {"id": str(listing.id)},
        "text": "The picture shows our own product.",
    }
    return Sent({}, lambda _: body, _acting(organization_id))


def _on_support(body: Body) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.support_request(host, organization_id, who.user_id)
        return Sent({"supportRequestId": made.id}, lambda _: body, _acting(organization_id))

    return sent


async def _resolving(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.support_request(host, organization_id, who.user_id)
    staff = await identity.staff(host, "platform_curator")
    body: dict[str, Any] = {"outcome": "answered", "text": "The picture was replaced."}
    return Sent({"supportRequestId": made.id}, lambda _: body, staff.headers, by_staff=True)


async def _displayed(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.display(host, organization_id)
    return Sent({"displayId": made.id}, lambda _: None, _acting(organization_id))


def _plain(body: Callable[[], Body]) -> Maker:
    """A call on a collection."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        given = body()
        return Sent({}, lambda _: given, _acting(organization_id))

    return sent


MAKERS: dict[str, Maker] = {
    "create_quote_request": _asking,
    "list_quote_requests": _plain(lambda: None),
    "get_quote_request": _on_request(None),
    "change_quote_request": _on_request({"terms": "Payment 14 days after."}, changes=True),
    "open_support_request": _appealing,
    "list_support_requests": _plain(lambda: None),
    "get_support_request": _on_support(None),
    "change_support_request": _on_support({"move": "close"}),
    "resolve_support_request": _resolving,
    "record_recommendation_display": _plain(lambda: factory.SHOWN),
    "get_recommendation_display": _displayed,
}
