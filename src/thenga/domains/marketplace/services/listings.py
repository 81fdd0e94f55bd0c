"""Listings: written and changed by their providers; every content waits for a moderator."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from pydantic import MISSING
from sqlalchemy import func, select

from thenga.domains.billing.public import check_room
from thenga.domains.marketplace import public
from thenga.domains.marketplace.lifecycles.listings import ListingLifecycle, VersionLifecycle
from thenga.domains.marketplace.schemas.listings import ChangeListing, CreateListing
from thenga.domains.marketplace.services import categories, providers, serving
from thenga.domains.marketplace.services.categories import CategoryUnknown
from thenga.domains.marketplace.services.providers import SupplierInactive
from thenga.domains.marketplace.tables.listings import (
    Listing,
    ListingStatus,
    ListingVersion,
    ListingVersionStatus,
    Visibility,
)
from thenga.domains.marketplace.values.listing_content import ListingContent, PriceModel
from thenga.domains.organization.public import Profiles
from thenga.domains.supplier.public import SupplierCard
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Duplicate, InvalidTransition, Problem, RuleViolated, extensions
from thenga.kernel.values.shapes import as_document

FEATURE = "marketplace.listings"
ENDED = (ListingStatus.REJECTED, ListingStatus.CLOSED)
# From its first review on, a listing has a place in the plan, so that no decision meets the limit.
_COUNTED = (
    ListingStatus.PENDING_REVIEW,
    ListingStatus.PUBLISHED,
    ListingStatus.PAUSED,
    ListingStatus.SUSPENDED,
)
# Nothing in these repeats without a bound, so no text takes long.
_CONTACT = re.compile(r"[\w.+-]@[\w-]{1,63}\.\w|(?:\+27|\b0)(?:[ ().-]{0,4}\d){9}\b")
_MARKUP = re.compile(r"<[A-Za-z/!?]|javascript:", re.IGNORECASE)


class ReferenceUnknown(Problem):
    """`offerRef` or `capabilityRefs` names nothing of your company.

    Name a record of your company's profile, and capabilities of your own supplier.
    """

    code, status = "marketplace-reference-unknown", 422
    title = "This is not of your company"
    members = extensions(field=(str, "Field of the request that names it."))


async def create_listing(work: Work, given: CreateListing) -> Listing:
    """Write a listing of the company's own supplier, and submit it if asked (MKT-1)."""
    card = await providers.own_card(work)
    await _check_content(work, given.content, card)
    provider = await providers.find_provider(work, work.organization_id)
    if provider is not None:
        provider = await providers.lock_provider(work)
    if given.submit:
        await _check_submission(work, card)
    if provider is None:
        await providers.add_provider(work, card)
    elif provider.supplier_id != card.supplier_id:
        await providers.take_supplier(work, provider, card)
    wanted = Listing(
        organization_id=work.organization_id,
        supplier_id=card.supplier_id,
        kind=given.kind,
        title_key=given.content.title.casefold(),
        visibility=given.visibility,
        newest_version=0,
    )
    listing, is_new = await work.add_or_find(wanted, by=("organization_id", "title_key"))
    if not is_new:
        raise _duplicate_of(listing)
    await work.hold(listing)
    version = await _add_version(work, listing, given.content)
    if given.submit:
        await _submit(work, listing, version)
    return await work.save(listing)


async def change_listing(work: Work, listing_id: UUID, given: ChangeListing) -> Listing:
    """Change the content, which waits for a moderator, and make a move (MKT-2)."""
    content = None if given.content is MISSING else given.content
    move = None if given.move is MISSING else given.move
    card = None
    if content is not None or move == "submit":
        card = await providers.own_card(work)
    if content is not None and card is not None:
        await _check_content(work, content, card)
    provider = await providers.lock_provider(work)
    listing = await work.lock(Listing, listing_id)
    if move == "submit" and card is not None and listing.status not in _COUNTED:
        await _check_submission(work, card)
    version = await _open_version(work, listing)
    if content is not None:
        version = await _store_content(work, listing, version, content)
    if move is not None:
        await _make(work, listing, version, move)
    await work.save(listing)
    if listing.live_version is not None:
        await serving.refresh(work, listing, provider)
    return listing


async def set_visibility(work: Work, listing_id: UUID, visibility: Visibility) -> Listing:
    """Choose who can find a listing (MKT-6)."""
    provider = await providers.lock_provider(work)
    listing = await work.lock(Listing, listing_id)
    if listing.status in ENDED:
        raise _refused(listing, "visibility")
    listing.visibility = visibility
    if work.changes(listing):
        await work.save(listing)
        live = await serving.refresh(work, listing, provider)
        work.publish(public.ListingVisibilityChanged.of(listing, served=live is not None))
    return listing


def change_of(listing: Listing) -> int | None:
    """The version beside the live one: the open one, else the one that was last decided about.

    So what a moderator refused stays readable, for the provider to mend and for an appeal.
    """
    if listing.open_version is not None:
        return listing.open_version
    decision = listing.decision
    number = listing.newest_version if decision is None else decision.version_number
    return None if number == listing.live_version else number


async def versions_of(
    read: Reader, listings: Sequence[Listing]
) -> dict[tuple[UUID, int], ListingVersion]:
    """The live version of each listing and the one beside it, by listing and number."""
    wanted = {
        (listing.id, number)
        for listing in listings
        for number in (listing.live_version, change_of(listing))
        if number is not None
    }
    statement = select(ListingVersion).where(
        among(ListingVersion.listing_id, [listing_id for listing_id, _ in wanted]),
        among(ListingVersion.number, {number for _, number in wanted}),
    )
    found = await read.all(statement, limit=10_000) if wanted else []
    by_number = {(version.listing_id, version.number): version for version in found}
    return {key: by_number[key] for key in wanted}


async def _make(
    work: Work,
    listing: Listing,
    version: ListingVersion | None,
    move: Literal["submit", "pause", "resume", "close", "cancel_change"],
) -> None:
    if move == "submit":
        await _submit(work, listing, version)
    elif move == "cancel_change":
        if version is None or listing.live_version is None:
            raise _refused(listing, move)
        await _cancel(work, listing, version)
    elif move == "close":
        if ListingLifecycle.close.make(work, listing):
            listing.title_key = None
            if version is not None:
                await _cancel(work, listing, version)
    elif move == "pause":
        ListingLifecycle.pause.make(work, listing)
    else:
        ListingLifecycle.resume.make(work, listing)


async def _submit(work: Work, listing: Listing, version: ListingVersion | None) -> None:
    """From here on the operator reads the listing, and a moderator decides (MKT-4)."""
    if version is None and listing.status is ListingStatus.CHANGES_REQUESTED:
        raise RuleViolated(
            "Change the content as the moderator asked, then submit it.",
            rule="MKT-2",
            field="/content",
        )
    if not ListingLifecycle.submit.make(work, listing) or version is None:
        return
    listing.counterparty_id = OPERATOR
    listing.pending_since = work.now
    await work.hold(version)
    version.counterparty_id = OPERATOR
    VersionLifecycle.submit.make(work, version)
    await work.save(version)


async def _store_content(
    work: Work, listing: Listing, version: ListingVersion | None, content: ListingContent
) -> ListingVersion | None:
    """Replace the content that is not decided yet, or begin the next version (MKT-2)."""
    if listing.status in ENDED:
        raise _refused(listing, "content")
    await _rename(work, listing, content.title.casefold())
    if version is None:
        live = await _version(work, listing, listing.live_version)
        if live is not None and live.content_hash == hash_of(content):
            return None
        return await _add_version(work, listing, content)
    if version.content_hash != hash_of(content):
        version.content, version.content_hash = content, hash_of(content)
        await work.save(version)
        if version.status is ListingVersionStatus.PENDING:
            listing.pending_since = work.now
    return version


async def _add_version(work: Work, listing: Listing, content: ListingContent) -> ListingVersion:
    """The next version; of a listing that was published, it waits for a moderator at once."""
    is_change = listing.live_version is not None
    listing.newest_version += 1
    listing.open_version = listing.newest_version
    if is_change:
        listing.pending_since = work.now
    return await work.add(
        ListingVersion(
            organization_id=listing.organization_id,
            counterparty_id=listing.counterparty_id,
            listing_id=listing.id,
            number=listing.newest_version,
            content=content,
            content_hash=hash_of(content),
            status=ListingVersionStatus.PENDING if is_change else ListingVersionStatus.DRAFT,
        )
    )


async def _cancel(work: Work, listing: Listing, version: ListingVersion) -> None:
    """Take back the version that is not decided yet; the live one stays."""
    await work.hold(version)
    VersionLifecycle.cancel.make(work, version)
    version.decided_at = work.now
    await work.save(version)
    listing.open_version = listing.pending_since = None
    live = await _version(work, listing, listing.live_version)
    if live is not None and listing.status not in ENDED:
        await _rename(work, listing, live.content.title.casefold())


async def _open_version(work: Work, listing: Listing) -> ListingVersion | None:
    version = await _version(work, listing, listing.open_version)
    return None if version is None else await work.hold(version)


async def _version(work: Work, listing: Listing, number: int | None) -> ListingVersion | None:
    if number is None:
        return None
    return await work.find(ListingVersion, listing_id=listing.id, number=number)


async def _rename(work: Work, listing: Listing, title_key: str) -> None:
    mine = listing.organization_id
    other = await work.find(Listing, organization_id=mine, title_key=title_key)
    if other is not None and other.id != listing.id:
        raise _duplicate_of(other)
    listing.title_key = title_key


async def _check_submission(work: Work, card: SupplierCard) -> None:
    """Submitting needs a supplier in use and a place in the plan (MKT-1)."""
    if card.status != "active":
        raise SupplierInactive()
    mine = Listing.organization_id == work.organization_id
    counted = select(func.count()).where(mine, among(Listing.status, _COUNTED))
    await check_room(work, FEATURE, await work.value(counted) or 0)


async def _check_content(work: Work, content: ListingContent, card: SupplierCard) -> None:
    """References are the provider's own, categories exist, and nobody is named (MKT-1, MKT-8)."""
    if set(content.capability_refs) - {capability.id for capability in card.capabilities}:
        raise ReferenceUnknown(field="/content/capabilityRefs")
    if content.offer_ref is not None:
        offer = content.offer_ref
        profile = await work.port(Profiles).describe(
            organization_id=work.organization_id,
            purpose="display",
            fact_keys=[],
            record_types=[offer.type],
            records_after=UUID(int=max(offer.id.int - 1, 0)),  # the page that begins with it
        )
        if str(offer.id) not in [record.ref.id for record in profile.records]:
            raise ReferenceUnknown(field="/content/offerRef")
    known = await categories.categories_of(work, content.category_ids)
    if set(content.category_ids) - known.keys():
        raise CategoryUnknown(field="/content/categoryIds")
    if (content.pricing.model is PriceModel.ON_REQUEST) != (content.pricing.amount is None):
        raise RuleViolated(
            "A price on request has no amount, and every other price has one.",
            rule="MKT-2",
            field="/content/pricing/amount",
        )
    for name in ("title", "summary", "description", "keywords", "minimum_order"):
        if _CONTACT.search(str(getattr(content, name))):
            raise RuleViolated(
                "Leave out phone numbers and email addresses. Contact begins with a quote request.",
                rule="MKT-8",
                field=f"/content/{name}",
            )
        if _MARKUP.search(str(getattr(content, name))):
            raise RuleViolated(
                "Leave out HTML and `javascript:` links. The description is Markdown.",
                rule="MKT-8",
                field=f"/content/{name}",
            )


def hash_of(content: ListingContent) -> str:
    """The hash by which a moderator names exactly this content."""
    document = json.dumps(as_document(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode()).hexdigest()


def _duplicate_of(listing: Listing) -> Duplicate:
    existing = {"domain": "marketplace", "type": "listing", "id": str(listing.id)}
    return Duplicate("You have a listing with this title already.", existing=existing)


def _refused(listing: Listing, operation: str) -> InvalidTransition:
    return not_possible(
        f"The status is {listing.status}, which does not allow this.",
        status=listing.status,
        operation=operation,
        allowed=ListingLifecycle.open(listing),
    )
