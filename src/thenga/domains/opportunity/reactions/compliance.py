"""What Compliance tells: a company can prove more or less than before."""

from thenga.domains.compliance.public import ReadinessChanged
from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import matching, qualification
from thenga.kernel.db.work import Work


@reactions.on(ReadinessChanged)
async def follow_readiness(work: Work, event: ReadinessChanged) -> None:
    """Refresh the profile; a qualification for that tender is stale (OPP-32, OPP-36)."""
    await matching.mark_profile_due(work)
    if event.tender_opportunity_id is not None:
        await qualification.mark_stale(work, event.tender_opportunity_id, ["readiness_changed"])
