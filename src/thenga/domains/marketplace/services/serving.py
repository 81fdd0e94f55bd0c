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
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound

BLOCKING = "block_rfq"  # effect of Supplier's trust that takes listings out of sight
_SERVED = ("visibility", "live_version", "content", "content_hash", "published_at")


def reasons_against(listing: Listing, provider: Provider) -> list[str]:
    """Why a listing is not served; empty if it is (MKT-6)."""
    holds = {
        "not_published": listing.status is not ListingStatus.PUBLISHED,
        "private": listing.visibility is Visibility.PRIVATE,
        "supplier_inactive": provider.supplier_status != "active",
        "trust_blocked": BLOCKING in provider.trust_effects,
    }
    return [reason for reason, is_so in holds.items() if is_so]


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
