"""Providers: whose supplier a listing hangs on, and whether it may be served (MKT-1, MKT-6)."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.marketplace.services import serving
from thenga.domains.marketplace.tables.listings import Listing, ListingStatus, Provider
from thenga.domains.supplier.public import SupplierCard, Suppliers
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, Problem
from thenga.kernel.jobs.queued import queued


class SupplierMissing(Problem):
    """A listing needs your own supplier.

    Register your company with `POST /suppliers` and `kind: own`, then try again.
    """

    code, status = "marketplace-supplier-missing", 422
    title = "Your company is not a supplier yet"


class SupplierInactive(Problem):
    """Your own supplier is out of use.

    Take it back into use with `PATCH /suppliers/{supplierId}` and `move: reactivate`.
    """

    code, status = "marketplace-supplier-inactive", 422
    title = "Your supplier is out of use"


async def own_card(work: Work) -> SupplierCard:
    """The own supplier of the organization with its capabilities, asked of Supplier (MKT-1)."""
    port = work.port(Suppliers)
    mine = work.organization_id
    supplier_id = await port.of_organization(organization_id=mine)
    cards = [] if supplier_id is None else await _described(port, mine, supplier_id)
    if not cards:
        raise SupplierMissing()
    return cards[0]


async def _described(port: Suppliers, mine: UUID, supplier_id: UUID) -> list[SupplierCard]:
    return await port.describe(organization_id=mine, supplier_ids=[supplier_id])


async def find_provider(read: Reader, organization_id: UUID) -> Provider | None:
    """What is kept of a provider."""
    return await read.find(Provider, organization_id=organization_id)


async def lock_provider(work: Work) -> Provider:
    """The provider of this unit of work, locked before its listings."""
    return await work.lock_by(Provider, beside=True, organization_id=work.organization_id)


async def add_provider(work: Work, card: SupplierCard) -> Provider:
    """Keep a provider with its first listing."""
    provider = Provider(
        organization_id=work.organization_id,
        supplier_id=card.supplier_id,
        supplier_status=card.status,
        trust_effects=[],
    )
    kept, is_new = await work.add_or_find(provider, by=("organization_id",))
    if not is_new:
        raise Conflict("Your first listing was created a moment ago. Send this one again.")
    return kept


async def take_supplier(work: Work, provider: Provider, card: SupplierCard) -> None:
    """Keep another own supplier of the company, and serve its listings accordingly.

    The status of the same supplier comes by its events alone; otherwise an event would find
    nothing to change, and leave the listings as they were.
    """
    provider.supplier_id, provider.supplier_status = card.supplier_id, card.status
    await work.save(provider)
    await _refresh_listings(work, provider)


async def store_supplier_status(work: Work, supplier_id: UUID, status: str) -> None:
    """Store whether the supplier is in use, and serve its listings accordingly."""
    await _store(work, supplier_id, supplier_status=status)


async def store_trust_effects(work: Work, supplier_id: UUID, effects: list[str]) -> None:
    """Store what follows from the trust in the supplier, and serve its listings accordingly."""
    await _store(work, supplier_id, trust_effects=effects)


async def _store(
    work: Work,
    supplier_id: UUID,
    *,
    supplier_status: str | None = None,
    trust_effects: list[str] | None = None,
) -> None:
    if await find_provider(work, work.organization_id) is None:
        return
    provider = await lock_provider(work)
    if provider.supplier_id != supplier_id:
        return
    if supplier_status is not None:
        provider.supplier_status = supplier_status
    if trust_effects is not None:
        provider.trust_effects = trust_effects
    if work.changes(provider):
        await work.save(provider)
        await _refresh_listings(work, provider)


@queued(key="{supplier_id}")
async def refresh_provider(work: Work, *, supplier_id: UUID) -> None:
    """Write again what others see of a provider's listings."""
    provider = await find_provider(work, work.organization_id)
    if provider is not None and provider.supplier_id == supplier_id:
        await _refresh_listings(work, await lock_provider(work))


async def _refresh_listings(work: Work, provider: Provider) -> None:
    mine = Listing.organization_id == provider.organization_id
    published = select(Listing).where(mine, Listing.status == ListingStatus.PUBLISHED)
    for listing in await work.all(published.order_by(Listing.id)):
        await serving.refresh(work, await work.hold(listing), provider)
