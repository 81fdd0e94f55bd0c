"""Calls of Opportunity: matches, qualification, recommendation, watchlists and the board."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories import opportunity as tenders
from tests.factories import opportunity_board as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Maker, Sent, of_organization
from thenga.kernel.process.host import Host

_AT = "tenderOpportunityId"


def _on_tender(given: Body = None, **headers: str) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await tenders.tender(host, organization_id)
        return Sent({_AT: made.id}, lambda _: given, headers=dict(headers))

    return sent


async def _deciding(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await tenders.tender(host, organization_id)
    body = {"choice": "accept", "reason": f"Agreed {uuid4().hex[:6]}"}
    return Sent({_AT: made.id}, lambda _: body, headers={"If-Match": '"0"'})


async def _on_qualification(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await tenders.tender(host, organization_id)
    await factory.qualification(host, organization_id, made.id)
    return Sent({_AT: made.id})


async def _watching(host: Host, who: Person, organization_id: UUID) -> Sent:
    await factory.known(host, organization_id)
    await factory.room_for_watchlists(host, organization_id, 100_000)
    body = {"name": f"Roads {uuid4().hex[:12]}", "filters": {"q": "road repair"}}
    return Sent({"organizationId": organization_id}, lambda _: body)


def _on_watchlist(changes: bool) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.watchlist(host, organization_id)
        body: Body = {"name": f"Roads {uuid4().hex[:12]}"} if changes else None
        ids = {"organizationId": organization_id, "watchlistId": made.id}
        return Sent(ids, lambda _: body)

    return sent


async def _saving(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await tenders.tender(host, organization_id)

    def body(ids: Any) -> dict[str, Any]:
        return {"tenderOpportunityId": str(ids[_AT]), "priority": 2}

    return Sent({"organizationId": organization_id, _AT: made.id}, body)


def _on_saved(changes: bool) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        tender = await tenders.tender(host, organization_id)
        made = await factory.saved(host, organization_id, tender.id)
        body: Body = {"notes": f"Call the buyer {uuid4().hex[:6]}"} if changes else None
        ids = {"organizationId": organization_id, "savedOpportunityId": made.id}
        return Sent(ids, lambda _: body)

    return sent


MAKERS: dict[str, Maker] = {
    "request_matches": _on_tender({"scope": "own"}),
    "get_matches": _on_tender(),
    "list_matches": of_organization,
    "answer_qualification": _on_tender({"note": "Ask the buyer"}),
    "get_qualification": _on_qualification,
    "get_recommendation": _on_tender(),
    "change_recommendation": _deciding,
    "create_watchlist": _watching,
    "list_watchlists": of_organization,
    "get_watchlist": _on_watchlist(changes=False),
    "change_watchlist": _on_watchlist(changes=True),
    "add_saved_opportunity": _saving,
    "list_saved_opportunities": of_organization,
    "get_saved_opportunity": _on_saved(changes=False),
    "change_saved_opportunity": _on_saved(changes=True),
}
