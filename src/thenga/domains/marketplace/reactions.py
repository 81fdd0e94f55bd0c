"""What Marketplace does when another domain publishes an event."""

from thenga.domains.marketplace.services import providers, quote_requests
from thenga.domains.marketplace.services.tenants import TENANTS
from thenga.domains.organization import public as organization
from thenga.domains.supplier import public as supplier
from thenga.kernel.db.work import Work
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("marketplace", is_sandbox=TENANTS.is_sandbox)


@reactions.on(organization.OrganizationCreated)
async def know_organization(work: Work, event: organization.OrganizationCreated) -> None:
    """Store whether it is a sandbox, whose clock can be moved and whose listings are for others.

    A listing that came before this event was taken for one of a live company.
    """
    await TENANTS.know(work, sandbox=event.mode == "sandbox")
    await _refresh(work)


@reactions.on(supplier.SupplierChanged)
async def follow_supplier(work: Work, event: supplier.SupplierChanged) -> None:
    """Take listings out of sight with their supplier, and back (MKT-6)."""
    await providers.store_supplier_status(work, event.supplier_id, event.status)


@reactions.on(supplier.TrustStateChanged)
async def follow_trust(work: Work, event: supplier.TrustStateChanged) -> None:
    """Take listings of a blocked supplier out of sight, and back (MKT-6)."""
    await providers.store_trust_effects(work, event.supplier_id, event.effects)


@reactions.on(supplier.SupplierCapabilityChanged)
async def refresh_capabilities(work: Work, event: supplier.SupplierCapabilityChanged) -> None:
    """Have what is found of the provider's listings written again."""
    work.enqueue(providers.refresh_provider.call(supplier_id=event.supplier_id))


@reactions.on(organization.ProfileFactChanged)
async def refresh_name(work: Work, event: organization.ProfileFactChanged) -> None:
    """Have what is found of the provider's listings written again, under its present name."""
    await _refresh(work)


async def _refresh(work: Work) -> None:
    provider = await providers.find_provider(work, work.organization_id)
    if provider is not None:
        work.enqueue(providers.refresh_provider.call(supplier_id=provider.supplier_id))


@reactions.on(supplier.QuoteSubmitted, supplier.QuoteChanged, supplier.QuoteAccepted)
async def follow_quote(
    work: Work,
    event: supplier.QuoteSubmitted | supplier.QuoteChanged | supplier.QuoteAccepted,
) -> None:
    """Move the recipient and its request; the provider's copy of the event moves nothing."""
    await quote_requests.follow_quote(work, event, work.envelope.sequence or 0)
