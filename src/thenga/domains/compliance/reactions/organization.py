"""What Compliance does when Organization publishes an event."""

from thenga.domains.compliance.reactions.declared import reactions
from thenga.domains.compliance.services import requirements, tenants
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work


@reactions.on(organization.OrganizationCreated)
async def know_organization(work: Work, event: organization.OrganizationCreated) -> None:
    """Store whether it is a sandbox, whose clock can be moved."""
    await tenants.TENANTS.know(work, sandbox=event.mode == "sandbox")


@reactions.on(organization.ProfileFactChanged)
async def follow_facts(work: Work, event: organization.ProfileFactChanged) -> None:
    """A fact may decide whether a requirement applies (CMP-4)."""
    await requirements.refresh_profile(work)


@reactions.on(organization.DirectorChanged)
async def follow_directors(work: Work, event: organization.DirectorChanged) -> None:
    """Some requirements are proven for each director."""
    await requirements.refresh_profile(work)


@reactions.on(organization.CapabilityVerified)
async def follow_capabilities(work: Work, event: organization.CapabilityVerified) -> None:
    """A proven capability may decide whether a requirement of its sector applies."""
    await requirements.refresh_profile(work)
