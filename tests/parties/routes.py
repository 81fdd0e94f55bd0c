"""Routes of the domain of two parties: a public page, and what staff look at."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

from fastapi import Path as InPath
from sqlalchemy import select

from tests.parties import Listing, Note, Offer, Tender
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.read_audit import tell
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.errors import NotFound
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import anyone_reads, reads
from thenga.kernel.values.fields import matching

STAFF = ("platform_support",)
Code = Annotated[str, matching("^[a-z0-9-]{1,60}$", 60)]


class Permission(StrEnum):
    INSPECT = "parties:offer:inspect"
    LOOK = "parties:offer:look"


class ListingView(View):
    """A listing, and how much else of the domain its reader can see."""

    text: str
    private_rows: int


class OffersView(View):
    """How many offers an organization has."""

    offers: int
    reason: str | None


router = make_router("Parties")
OrganizationId = Annotated[UUID, InPath(alias="organizationId")]


async def read_listing(
    code: Annotated[Code, InPath()],
    read: Annotated[Reader, anyone_reads(lambda shared: shared.rules.link_address)],
) -> ListingView:
    """Read a public listing."""
    found = await read.find(Listing, code=code)
    if found is None:
        raise NotFound()
    private = [*await read.all(select(Offer)), *await read.all(select(Note))]
    hidden = [one for one in await read.all(select(Tender)) if not one.shared]
    return ListingView(text=found.text, private_rows=len(private) + len(hidden))


async def _counted(read: Reader, organization_id: UUID) -> OffersView:
    await on_behalf_of(read, organization_id)
    found = await read.all(select(Offer))
    await tell(read, read.origin.action, ("offer", organization_id), {"count": len(found)})
    return OffersView(offers=len(found), reason=read.origin.reason)


async def inspect_offers(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.INSPECT, reason=True)],
) -> OffersView:
    """Look at a customer's offers, with a reason."""
    return await _counted(read, organization_id)


async def look_at_offers(
    organization_id: OrganizationId, read: Annotated[Reader, reads(Permission.LOOK)]
) -> OffersView:
    """Look at one's own offers, or as staff at a customer's."""
    return await _counted(read, organization_id)


for path, function in (
    ("/parties/listings/{code}", read_listing),
    ("/parties/{organizationId}/inspected-offers", inspect_offers),
    ("/parties/{organizationId}/offers", look_at_offers),
):
    function.__domain__ = "parties"  # type: ignore[attr-defined]  # a domain's module says it itself
    router.add_api_route(path, function, methods=["GET"])

DOMAIN = Domain(
    name="parties",
    home=Path(__file__).parent,
    routers=(router,),
    permissions=(
        Granted(Permission.INSPECT, "Inspect offers", (Audience.PLATFORM,), STAFF),
        Granted(Permission.LOOK, "Look at offers", (Audience.TENANT, Audience.PLATFORM), STAFF),
    ),
)
