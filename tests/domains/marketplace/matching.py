"""A provider with proof, and what a buyer asks for."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx2

from tests.domains.organization.offering import Folder
from tests.domains.supplier.desks import Desk
from tests.factories import marketplace_search as factory
from tests.factories import opportunity_board as tenders
from tests.factories import supplier as suppliers
from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.kernel.process.host import Host

Offer = Callable[..., Awaitable[str]]
CLAIM = {"title": "General building", "classifications": [{"scheme": "cidb", "code": "GB"}]}
GRADE: dict[str, Any] = {"label": "6GB", "cidb": {"worksClass": "GB", "minGrade": 6}}
CIDB = {"kind": "cidb_grade", "class": "GB", "minGrade": 6, "peAllowed": False}
TAX = {"kind": "document", "requirementCode": "tax_status", "validOn": "closing"}


def offering(bound: Host, api: httpx2.AsyncClient, builder: Desk, category: str) -> Offer:
    """Publish a listing, of a provider whose capability Organization verified."""

    async def offered(desk: Desk = builder, grade: str | None = "6GB", **given: Any) -> str:
        owner = desk.who.organization_id
        supplier_id = await factory.own_supplier(bound, owner)
        if grade is not None:
            claim = await Folder(api, desk.who, "capabilities").made(**CLAIM)
            where = given.pop("named", [category])
            named = {"title": f"Halls {claim['id']}", "categoryIds": where}
            path = f"/{supplier_id}/capabilities"
            await desk.made(path, **named, organizationCapabilityId=claim["id"])
            stated = {"cidb_designation": grade, "verified_until": given.pop("until", None)}
            proven = suppliers.verified(owner, UUID(claim["id"]), **stated)
            await suppliers.hear(bound, owner, proven, sequence=1000)
        ids = [UUID(given.pop("category_id", category))]
        return str((await factory.listing(bound, owner, ids, **given)).id)

    return offered


async def compute(buyer: Desk, **body: Any) -> httpx2.Response:
    return await buyer.api.post("/marketplace/matches", json=body, headers=buyer.who.acting)


async def computed(buyer: Desk, **body: Any) -> dict[str, Any]:
    answer = await compute(buyer, **body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def read(desk: Desk, match_id: str) -> httpx2.Response:
    return await desk.api.get(f"/marketplace/matches/{match_id}", headers=desk.who.acting)


def need(category: str, **given: Any) -> dict[str, Any]:
    return {
        "text": "A partner who builds the roof of a school hall.",
        "categoryIds": [category],
        "area": {"province": "GP"},
        "requirements": [GRADE],
    } | given


async def tender_with_gap(host: Host, **fields: Any) -> TenderOpportunity:
    """A tender that asks for a CIDB grade a partner can bring, and for own tax papers."""
    tender = await tenders.shared_tender(host, **fields)
    grade = {"title": "CIDB grade 6GB or higher", "cure": "partner", "gate": "hard"}
    await tenders.requirement(host, tender, CIDB, **grade)
    paper = {"title": "Tax status in good order", "code": "tax_status", "cure": "renew"}
    await tenders.requirement(host, tender, TAX, **paper, ordinal=2)
    return tender
