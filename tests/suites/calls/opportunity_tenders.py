"""Calls of Opportunity: tenders, amendments, briefings and deadlines."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories import opportunity as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent, of_person
from thenga.kernel.process.host import Host

_AT = "tenderOpportunityId"


async def _capturing(host: Host, who: Person, organization_id: UUID) -> Sent:
    body = {
        "tenderNumber": f"SCM {uuid4().hex[:10]}/2026",
        "title": "Construction of a community hall",
        "buyer": {"name": "Umzimkhulu Municipality", "sphere": "municipal", "regime": "mfma"},
        "closingAt": "2198-12-20T09:00:00Z",
        "mainCategory": "works",
        "provinces": ["KZN"],
    }
    return Sent({}, lambda _: body)


def _on_tender(given: Body = None, *, publish: bool = False) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.tender(host, organization_id, publish=publish)
        return Sent({_AT: made.id}, lambda _: given)

    return sent


async def _changing(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.tender(host, organization_id, publish=False)
    title = f"Construction of a clinic {uuid4().hex[:8]}"
    return Sent({_AT: made.id}, lambda _: {"title": title})


async def _scheduling(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.tender(host, organization_id)
    body = {
        "startsAt": "2198-12-10T09:00:00Z",
        "compulsory": True,
        "venue": "Town hall",
        "attendance": {"state": "registered", "registeredAs": "Mzansi Build"},
    }
    return Sent({_AT: made.id}, lambda _: body)


def _on_briefing(changes: bool) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.tender(host, organization_id)
        held = await factory.briefing(host, organization_id, made.id)
        body = {"venue": f"Hall {uuid4().hex[:6]}"} if changes else None
        return Sent({_AT: made.id, "briefingId": held.id}, lambda _: body)

    return sent


async def _setting(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.tender(host, organization_id)
    label = f"Questions {uuid4().hex[:6]}"

    def body(ids: Ids) -> dict[str, Any]:
        rule = {"before": "closing", "workingDays": 5}
        return {"kind": "clarification", "label": label, "rule": rule}

    return Sent({_AT: made.id}, body)


async def _on_deadline(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.tender(host, organization_id)
    due = await factory.deadline(host, organization_id, made.id)
    return Sent({_AT: made.id, "deadlineId": due.id})


MAKERS: dict[str, Maker] = {
    "create_opportunity": _capturing,
    "list_opportunities": of_person,
    "get_opportunity": _on_tender(),
    "change_opportunity": _changing,
    "publish_opportunity": _on_tender({"visibility": "private"}),
    "list_amendments": _on_tender(publish=True),
    "create_briefing": _scheduling,
    "get_briefing": _on_briefing(changes=False),
    "change_briefing": _on_briefing(changes=True),
    "add_deadline": _setting,
    "get_deadline": _on_deadline,
}
