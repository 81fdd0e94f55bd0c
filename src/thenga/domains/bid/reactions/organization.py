"""What Organization tells: which companies there are."""

from thenga.domains.bid.reactions.declared import reactions
from thenga.domains.bid.services import tenants
from thenga.domains.organization.public import OrganizationCreated
from thenga.kernel.db.work import Work


@reactions.on(OrganizationCreated)
async def know_organization(work: Work, event: OrganizationCreated) -> None:
    """Store whether it is a sandbox, whose clock can be moved."""
    await tenants.know_tenant(work, sandbox=event.mode == "sandbox")
