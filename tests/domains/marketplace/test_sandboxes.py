"""What a sandbox offers is for sandboxes alone: no live company meets a listing of a test."""

from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.domains.supplier.desks import Desk, desk
from tests.factories import marketplace_search as factory
from tests.factories.marketplace import hear
from thenga.domains.marketplace.services import providers
from thenga.domains.marketplace.services.tenants import TENANTS
from thenga.domains.organization.public import OrganizationCreated
from thenga.kernel.process.host import Host

LATER = "2199-01-31T10:00:00Z"


def request(**recipient: str) -> dict[str, Any]:
    return {
        "title": "A clinic for Tembisa",
        "dueAt": LATER,
        "purpose": "bid",
        "lines": [{"key": "1", "description": "A clinic", "unit": "each", "quantity": "1"}],
        "recipients": [recipient],
    }


async def sandbox(api: httpx2.AsyncClient, host: Host, name: str) -> Desk:
    made = await desk(api, host, name)
    work = factory.working(host, made.who.organization_id)
    await TENANTS.know(work, sandbox=True)
    await work.finish()
    return made


async def reached(viewer: Desk, category: str, listing: str, supplier: str) -> list[bool]:
    """Whether a listing is found, matched and read, and its supplier asked in both ways."""
    api, headers = viewer.api, viewer.who.acting
    found = await api.get(f"/marketplace/search?categoryId={category}", headers=headers)
    need = {"need": {"text": "A clinic for Tembisa.", "categoryIds": [category]}}
    match = await api.post("/marketplace/matches", json=need, headers=headers)
    read = await api.get(f"/marketplace/listings/{listing}", headers=headers)
    proof = f"/marketplace/listings/{listing}/verification-display"
    shown = await api.get(proof, headers=headers)
    path = "/marketplace/quote-requests"
    asked = await api.post(path, json=request(listingId=listing), headers=headers)
    named = await api.post(path, json=request(supplierId=supplier), headers=headers)
    return [
        listing in found.text,
        listing in match.text,
        read.status_code == 200,
        shown.status_code == 200,
        asked.status_code == 201,
        named.status_code == 201,
    ]


@pytest.mark.rule("MKT-6")
async def test_a_listing_of_a_sandbox_reaches_sandboxes_alone(
    api: httpx2.AsyncClient, host: Host, bound: Host, buyer: Desk, builder: Desk
) -> None:
    tester = await sandbox(api, host, "Sandbox Builders")
    viewer = await sandbox(api, host, "Sandbox Buyers")
    category = str((await factory.category(host)).id)
    made = [
        await factory.listing(bound, owner.who.organization_id, [UUID(category)])
        for owner in (tester, builder)
    ]
    of_test, live = [(str(listing.id), str(listing.supplier_id)) for listing in made]

    for desk_, own, other in ((viewer, of_test, live), (buyer, live, of_test)):
        assert await reached(desk_, category, *own) == [True] * 6
        assert await reached(desk_, category, *other) == [False] * 6
    print("\nsandbox reached=6 crossed=0")


@pytest.mark.rule("MKT-6")
async def test_a_listing_before_its_sandbox_was_announced_is_moved(
    api: httpx2.AsyncClient, host: Host, bound: Host, buyer: Desk
) -> None:
    tester = await desk(api, host, "Sandbox Builders")
    organization_id = tester.who.organization_id
    category = str((await factory.category(host)).id)
    listing = await factory.listing(bound, organization_id, [UUID(category)])
    own = (str(listing.id), str(listing.supplier_id))
    before = await reached(buyer, category, *own)

    announced = OrganizationCreated(
        organization_id=organization_id,
        created_by_user_id=tester.who.user_id,
        organization_type="enterprise",
        mode="sandbox",
        status="active",
    )
    await hear(bound, organization_id, announced)
    work = factory.working(bound, organization_id)
    await providers.refresh_provider(work, supplier_id=listing.supplier_id)
    await work.finish()

    assert before == [True] * 6
    assert await reached(buyer, category, *own) == [False] * 6
