"""What Organization tells: which companies there are, and what they offer and want."""

from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import matching, tenants
from thenga.domains.organization.public import (
    CapabilityChanged,
    CapabilityClaimed,
    CapabilityLapsed,
    CapabilityVerified,
    OfferingChanged,
    OrganizationCreated,
    PastProjectChanged,
    ProcurementPreferencesChanged,
    ProfileFactChanged,
)
from thenga.kernel.db.work import Work


@reactions.on(OrganizationCreated)
async def know_organization(work: Work, event: OrganizationCreated) -> None:
    """Store its type as it stated it, and its mode."""
    await tenants.TENANTS.know(
        work, organization_type=event.organization_type, sandbox=event.mode == "sandbox"
    )
    await matching.make_profile(work)


@reactions.on(ProfileFactChanged)
async def follow_facts(work: Work, event: ProfileFactChanged) -> None:
    """Facts of the company changed (OPP-32)."""
    await matching.mark_profile_due(work)


@reactions.on(CapabilityClaimed)
async def follow_claim(work: Work, event: CapabilityClaimed) -> None:
    """The company says that it can do something."""
    await matching.mark_profile_due(work)


@reactions.on(CapabilityChanged)
async def follow_capability(work: Work, event: CapabilityChanged) -> None:
    """A capability or its review changed."""
    await matching.mark_profile_due(work)


@reactions.on(CapabilityVerified)
async def follow_verification(work: Work, event: CapabilityVerified) -> None:
    """A capability is proven."""
    await matching.mark_profile_due(work)


@reactions.on(CapabilityLapsed)
async def follow_lapse(work: Work, event: CapabilityLapsed) -> None:
    """A capability is proven no more."""
    await matching.mark_profile_due(work)


@reactions.on(OfferingChanged)
async def follow_offering(work: Work, event: OfferingChanged) -> None:
    """A service or product changed."""
    await matching.mark_profile_due(work)


@reactions.on(PastProjectChanged)
async def follow_project(work: Work, event: PastProjectChanged) -> None:
    """A past project changed."""
    await matching.mark_profile_due(work)


@reactions.on(ProcurementPreferencesChanged)
async def follow_preferences(work: Work, event: ProcurementPreferencesChanged) -> None:
    """The company wants to bid on something else."""
    await matching.mark_profile_due(work)
