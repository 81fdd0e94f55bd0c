"""What Organization tells: which companies there are."""

from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import tenants
from thenga.domains.organization.public import OrganizationCreated
from thenga.kernel.db.work import Work


@reactions.on(OrganizationCreated)
async def know_organization(work: Work, event: OrganizationCreated) -> None:
    """Store its type, which says whether it may share tenders (OPP-16), and its mode."""
    await tenants.know_tenant(
        work, organization_type=event.organization_type, sandbox=event.mode == "sandbox"
    )
