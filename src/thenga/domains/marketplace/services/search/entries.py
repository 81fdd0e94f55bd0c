"""Search entries: written with the live listing, and again once its owners have answered."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import select

from thenga.domains.marketplace.services.categories import categories_of
from thenga.domains.marketplace.services.places import tokens_of
from thenga.domains.marketplace.services.proofs import fits
from thenga.domains.marketplace.tables.categories import Category
from thenga.domains.marketplace.tables.listings import LiveListing, Visibility
from thenga.domains.marketplace.tables.search import SearchEntry
from thenga.domains.organization.public import Card, Profiles
from thenga.domains.supplier.public import SupplierCard, Suppliers, Trust, TrustLevel, TrustView
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound
from thenga.kernel.jobs.queued import queued
from thenga.kernel.ports.asking import asking

FOUND = (Visibility.TENANTS, Visibility.PUBLIC)  # the others are in no search
REGISTRATION = "registrationNumber"

_WRITE = """
    INSERT INTO marketplace.search_entry (
        id, created_at, updated_at, version, organization_id, supplier_id, tokens, provider_name,
        level, trust, confirmed_at, sandbox, words
    ) VALUES (
        $1, $2, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10,
        setweight(to_tsvector('marketplace.za', $11), 'A')
            || setweight(to_tsvector('marketplace.za', $12), 'B')
            || setweight(to_tsvector('marketplace.za', $13), 'C')
            || setweight(to_tsvector('marketplace.za', $14), 'D')
    ) ON CONFLICT (organization_id, id) DO UPDATE SET
        updated_at = excluded.updated_at, version = search_entry.version + 1,
        supplier_id = excluded.supplier_id, tokens = excluded.tokens,
        provider_name = excluded.provider_name, level = excluded.level, trust = excluded.trust,
        confirmed_at = excluded.confirmed_at, sandbox = excluded.sandbox, words = excluded.words
"""
_REMOVE = "DELETE FROM marketplace.search_entry WHERE organization_id = $1 AND id = $2"


async def refresh_entry(work: Work, live: LiveListing) -> None:
    """Let search find a live listing as it stands now (MKT-12).

    Call it in the transaction that writes the live listing, or that learns of a change of its
    provider. What the owners say of the provider stays until `reindex_listing` has asked them.
    """
    if live.visibility not in FOUND:
        await remove_entry(work, live.organization_id, live.id)
        return
    kept = (SearchEntry.organization_id == live.organization_id) & (SearchEntry.id == live.id)
    columns = (SearchEntry.provider_name, SearchEntry.level, SearchEntry.trust)
    known = await work.records(select(*columns).where(kept))
    name, level, trust = known[0] if known else (None, 0, None)
    await _write(work, live, name, level, trust)
    work.enqueue(reindex_listing.call(listing_id=live.id))


async def remove_entry(work: Work, organization_id: UUID, listing_id: UUID) -> None:
    """Let nobody find a listing."""
    await work.run(_REMOVE, organization_id, listing_id)


@queued(key="{listing_id}")
async def reindex_listing(work: Work, *, listing_id: UUID) -> None:
    """Ask the owners about the provider of a listing, and let search order it accordingly."""
    live = await work.find(LiveListing, organization_id=work.organization_id, id=listing_id)
    if live is None or live.visibility not in FOUND:
        return
    ids = [work.organization_id]
    cards = await work.port(Profiles).cards(organization_ids=ids)
    suppliers = await work.port(Suppliers).describe(
        organization_id=work.organization_id, supplier_ids=[live.supplier_id]
    )
    trusted = await trust_of(work, [live.supplier_id])
    try:
        await work.hold(live)
    except NotFound:
        return  # it is no longer served
    if live.visibility not in FOUND:
        return  # the provider hid it while the owners were asked
    card, supplier = next(iter(cards), None), next(iter(suppliers), None)
    categories = await categories_of(work, live.content.category_ids)
    own = [categories[id_] for id_ in live.content.category_ids if id_ in categories]
    level = level_of(card, supplier, own)
    name = None if card is None else card.display_name
    await _write(work, live, name, level, trusted.get(live.supplier_id))


async def trust_of(read: Reader, supplier_ids: Sequence[UUID]) -> dict[UUID, TrustLevel]:
    """How far suppliers are trusted; those that nobody answers for are left out."""
    ids, nobody = list(supplier_ids), list[TrustView]()
    views = await asking(read, Trust, lambda port: port.describe(supplier_ids=ids), silent=nobody)
    return {view.supplier_id: view.state for view in views}


def level_of(
    card: Card | None, supplier: SupplierCard | None, categories: Iterable[Category]
) -> int:
    """How much of a provider is verified, from 0 to 3 (MKT-14).

    A capability proves a category that it names and that its verified codes belong to.
    """
    facts = [] if card is None else card.verified_facts
    if not any(fact.fact_key == REGISTRATION for fact in facts):
        return 0
    proven = [
        (capability.category_ids, capability.verification)
        for capability in (supplier.capabilities if supplier else [])
        if capability.verification and capability.verification.verification_status == "verified"
    ]
    if not proven:
        return 1
    is_here = any(
        category.id in named and fits(verification, category)
        for named, verification in proven
        for category in categories
    )
    return 3 if is_here else 2


async def _write(
    work: Work, live: LiveListing, name: str | None, level: int, trust: TrustLevel | None
) -> None:
    content = live.content
    above = await categories_of(work, content.category_ids)
    await work.run(
        _WRITE,
        *(live.id, work.now, live.organization_id, live.supplier_id),
        *(_tokens(live, above), name, level, trust, live.published_at, live.sandbox),
        " ".join([content.title, *content.keywords]),
        " ".join([*_names(above), name or ""]),
        content.summary,
        content.description or "",
    )


def _tokens(live: LiveListing, above: dict[UUID, Category]) -> list[str]:
    """Categories with the ones above them, the listing's own categories, places and kind."""
    categories = [f"c:{category_id}" for category_id in sorted(above)]
    own = [f"o:{category_id}" for category_id in sorted(live.content.category_ids)]
    return [*categories, *own, *tokens_of(live.content.areas), f"k:{live.kind.value}"]


def _names(categories: dict[UUID, Category]) -> list[str]:
    """The names of categories in every language."""
    return [
        name
        for _, category in sorted(categories.items())
        for name in category.names.model_dump(exclude_none=True).values()
    ]
