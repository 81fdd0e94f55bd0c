"""What Marketplace does when another domain publishes an event."""

from thenga.domains.marketplace.services.tenants import TENANTS
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("marketplace", is_sandbox=TENANTS.is_sandbox)


@reactions.on(organization.OrganizationCreated)
async def know_organization(work: Work, event: organization.OrganizationCreated) -> None:
    """Store whether it is a sandbox, whose clock can be moved."""
    await TENANTS.know(work, sandbox=event.mode == "sandbox")
