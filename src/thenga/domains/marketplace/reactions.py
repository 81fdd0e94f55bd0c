"""What Marketplace does when another domain publishes an event."""

from thenga.domains.marketplace.services import quote_requests
from thenga.domains.marketplace.services.tenants import TENANTS
from thenga.domains.organization import public as organization
from thenga.domains.supplier import public as supplier
from thenga.kernel.db.work import Work
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("marketplace", is_sandbox=TENANTS.is_sandbox)


@reactions.on(organization.OrganizationCreated)
async def know_organization(work: Work, event: organization.OrganizationCreated) -> None:
    """Store whether it is a sandbox, whose clock can be moved."""
    await TENANTS.know(work, sandbox=event.mode == "sandbox")


@reactions.on(supplier.QuoteSubmitted, supplier.QuoteChanged, supplier.QuoteAccepted)
async def follow_quote(
    work: Work,
    event: supplier.QuoteSubmitted | supplier.QuoteChanged | supplier.QuoteAccepted,
) -> None:
    """Move the recipient and its request; the provider's copy of the event moves nothing."""
    await quote_requests.follow_quote(work, event, work.envelope.sequence or 0)
