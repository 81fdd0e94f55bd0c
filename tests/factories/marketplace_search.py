"""Categories, and listings that are served, as search and matching find them."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tests.factories import supplier as suppliers
from thenga.domains.marketplace.schemas.categories import CreateCategory
from thenga.domains.marketplace.schemas.matches import CreateMatch
from thenga.domains.marketplace.services import categories, serving
from thenga.domains.marketplace.services.matching import matches
from thenga.domains.marketplace.services.search import entries
from thenga.domains.marketplace.tables.categories import Category
from thenga.domains.marketplace.tables.listings import (
    Listing,
    ListingKind,
    ListingStatus,
    ListingVersion,
    ListingVersionStatus,
    Provider,
    Visibility,
)
from thenga.domains.marketplace.tables.matches import Match
from thenga.domains.marketplace.values.listing_content import ListingContent
from thenga.domains.supplier.services import suppliers as supplier_services
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

HALLS: dict[str, Any] = {
    "title": "Community halls and clinics",
    "summary": "Building works up to 40 million rand, with our own plant.",
    "description": "We build clinics, halls and schools from foundation to handover.",
    "keywords": ["brickwork", "roofing"],
    "areas": {"provinces": ["GP"]},
}


def working(host: Host, organization_id: UUID = OPERATOR) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "marketplace", Scope(actor=SYSTEM, organization_id=organization_id), origin)


async def category(host: Host, name: str = "Building works", **body: Any) -> Category:
    """A category of the platform."""
    given = {"code": f"cat-{new_id().hex[-12:]}", "names": {"en": name}} | body
    work = working(host)
    made = await categories.create_category(work, CreateCategory.model_validate(given))
    await work.finish()
    return made


async def own_supplier(host: Host, organization_id: UUID) -> UUID:
    """The company's own supplier, registered once."""
    work = suppliers.working(host, organization_id)
    known = await supplier_services.own_supplier(work)
    await work.close()
    if known is not None:
        return known.id
    return (await suppliers.supplier(host, organization_id, **suppliers.OWN, name=None)).id


async def listing(
    host: Host,
    organization_id: UUID,
    category_ids: list[UUID],
    *,
    kind: ListingKind = ListingKind.SERVICE,
    visibility: Visibility = Visibility.TENANTS,
    confirmed_at: datetime | None = None,
    **content: Any,
) -> Listing:
    """A published listing, before its owners were asked about the provider."""
    supplier_id = await own_supplier(host, organization_id)
    work = working(host, organization_id)
    told = HALLS | {"categoryIds": [str(id_) for id_ in category_ids]} | content
    said = ListingContent.model_validate(told)
    provider = await work.find(Provider, organization_id=organization_id)
    if provider is None:
        provider = await work.add(
            Provider(
                organization_id=organization_id,
                supplier_id=supplier_id,
                supplier_status="active",
                trust_effects=[],
            )
        )
    at = confirmed_at or work.now - timedelta(days=1)
    made = await work.add(
        Listing(
            organization_id=organization_id,
            counterparty_id=OPERATOR,
            supplier_id=supplier_id,
            kind=kind,
            title_key=f"{said.title.casefold()} {new_id()}",
            live_version=1,
            newest_version=1,
            status=ListingStatus.PUBLISHED,
            visibility=visibility,
        )
    )
    await work.add(
        ListingVersion(
            organization_id=organization_id,
            counterparty_id=OPERATOR,
            listing_id=made.id,
            number=1,
            content=said,
            content_hash=made.id.hex * 2,
            decided_at=at,
            status=ListingVersionStatus.CONFIRMED,
        )
    )
    await serving.refresh(work, made, provider)
    await work.finish()
    return made


async def remove_from_sight(host: Host, organization_id: UUID, listing_id: UUID) -> None:
    """Pause a listing, so that it is no longer served."""
    work = working(host, organization_id)
    listed = await work.lock(Listing, listing_id)
    listed.status = ListingStatus.PAUSED
    await work.save(listed)
    provider = await work.find(Provider, organization_id=organization_id)
    assert provider is not None
    await serving.refresh(work, listed, provider)
    await work.finish()


async def reindex(host: Host, organization_id: UUID, listing_id: UUID) -> None:
    """Ask the owners about the provider, as the job does; `host` has their ports."""
    work = working(host, organization_id)
    await entries.reindex_listing(work, listing_id=listing_id)
    await work.finish()


async def match(
    host: Host, organization_id: UUID, *, correlation: str = "factory", **need: Any
) -> Match:
    """A match of a need in a category where nobody offers anything yet."""
    work = working(host, organization_id)
    work.origin = replace(work.origin, correlation_id=correlation)
    given = {"text": "A partner who builds the roof of a school hall."} | need
    if "categoryIds" not in given:
        given["categoryIds"] = [str((await category(host)).id)]
    made = await matches.compute_match(work, CreateMatch.model_validate({"need": given}))
    await work.finish()
    return made
