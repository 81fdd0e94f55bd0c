"""What Contract does when Organization publishes an event."""

from thenga.domains.contract.reactions.declared import reactions
from thenga.domains.contract.services import tenants
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work


@reactions.on(organization.OrganizationCreated)
async def know_organization(work: Work, event: organization.OrganizationCreated) -> None:
    """Store whether it is a sandbox, whose clock can be moved."""
    await tenants.TENANTS.know(work, sandbox=event.mode == "sandbox")
