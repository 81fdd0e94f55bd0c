"""What others see of a listing: there while it is served, and exactly what was confirmed."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from thenga.domains.marketplace.services import search
from thenga.domains.marketplace.services.tenants import in_sandbox
from thenga.domains.marketplace.tables.listings import (
    Listing,
    ListingStatus,
    ListingVersion,
    LiveListing,
    Provider,
    Visibility,
)
from thenga.domains.marketplace.values.serving import ServingReason
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound

BLOCKING = "block_rfq"  # effect of Supplier's trust that takes listings out of sight
_SERVED = ("visibility", "live_version", "content", "content_hash", "published_at", "sandbox")


def reasons_against(listing: Listing, provider: Provider | None) -> list[ServingReason]:
    """Why a listing is not served; empty if it is (MKT-6). Without a provider, its own reasons."""
    holds = {
        ServingReason.NOT_PUBLISHED: listing.status is not ListingStatus.PUBLISHED,
        ServingReason.PRIVATE: listing.visibility is Visibility.PRIVATE,
    }
    if provider is not None:
        holds[ServingReason.SUPPLIER_INACTIVE] = provider.supplier_status != "active"
        holds[ServingReason.TRUST_BLOCKED] = BLOCKING in provider.trust_effects
    return [reason for reason, is_so in holds.items() if is_so]


async def reasons_of(read: Reader, listings: Sequence[Listing]) -> dict[UUID, list[ServingReason]]:
    """Why listings are not served, for their provider and for staff; those served are left out.

    A provider's own row is read in its own scope, and only for what has been published: so a page
    of first reviews asks nothing.
    """
    live, mine = await live_among(read, listings), read.organization_id
    hidden = [listing for listing in listings if listing.id not in live]
    published = {row.organization_id for row in hidden if row.live_version is not None}
    providers: dict[UUID, Provider | None] = {}
    for organization_id in sorted(published):
        if organization_id != read.organization_id:
            await read.switch_scope(organization_id=organization_id)
        providers[organization_id] = await read.find(Provider, organization_id=organization_id)
    if read.organization_id != mine:
        await read.switch_scope(organization_id=mine)
    return {
        listing.id: reasons_against(listing, providers.get(listing.organization_id))
        for listing in hidden
    }


async def get_live(read: Reader, listing_id: UUID) -> LiveListing:
    """What others see of a listing, or `NotFound` while it is not served."""
    live = await read.find(LiveListing, id=listing_id)
    if live is None or not await _reaches(read, live):
        raise NotFound()
    return live


async def _reaches(read: Reader, live: LiveListing) -> bool:
    """What sandboxes offer is for sandboxes, the provider and staff (MKT-6)."""
    if read.organization_id in (live.organization_id, OPERATOR):
        return True
    return live.sandbox is await in_sandbox(read)


async def live_among(read: Reader, listings: Sequence[Listing]) -> set[UUID]:
    """Which of these listings are served."""
    ids = [listing.id for listing in listings]
    return set(await read.values(select(LiveListing.id).where(among(LiveListing.id, ids))))


async def refresh(work: Work, listing: Listing, provider: Provider) -> LiveListing | None:
    """Write or remove what others see of a listing, in the provider's own unit of work (MKT-6).

    Call it whenever a listing or its provider changed; unchanged content stays as it is.
    """
    live = await work.find(LiveListing, organization_id=listing.organization_id, id=listing.id)
    if reasons_against(listing, provider):
        if live is not None:
            await work.hold(live)
            await work.remove(live)
            await search.remove_entry(work, listing.organization_id, listing.id)
        return None
    version = await work.find(ListingVersion, listing_id=listing.id, number=listing.live_version)
    if version is None or version.decided_at is None:
        raise LookupError("a published listing has a confirmed version")
    wanted = LiveListing(
        organization_id=listing.organization_id,
        id=listing.id,
        supplier_id=listing.supplier_id,
        kind=listing.kind,
        visibility=listing.visibility,
        live_version=version.number,
        content=version.content,
        content_hash=version.content_hash,
        published_at=version.decided_at,
        sandbox=await in_sandbox(work),
    )
    if live is None:
        live = await work.add(wanted)
    else:
        await work.hold(live)
        for name in _SERVED:
            setattr(live, name, getattr(wanted, name))
        if work.changes(live):
            await work.save(live)
    await search.refresh_entry(work, live)  # also where only the provider has changed
    return live
