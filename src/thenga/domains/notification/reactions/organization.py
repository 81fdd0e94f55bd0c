"""Events of Organization."""

from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.services import tenants
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work


@reactions.on(organization.OrganizationCreated)
async def know_tenant(work: Work, event: organization.OrganizationCreated) -> None:
    """Store whether a new organization is a sandbox."""
    await tenants.TENANTS.know(work, sandbox=event.mode == "sandbox")
