"""What Compliance does when Identity publishes an event."""

from thenga.domains.compliance.reactions.declared import reactions
from thenga.domains.compliance.services import evidence, risks
from thenga.domains.identity import public as identity
from thenga.kernel.db.work import Work


@reactions.on(identity.MembershipChanged)
async def release_verifications(work: Work, event: identity.MembershipChanged) -> None:
    """What somebody who left was verifying goes back to the queue (CMP-17)."""
    if event.status != "active":
        await evidence.release_from(work, event.user_id)


@reactions.on(identity.MembershipChanged)
async def clear_risk_owner(work: Work, event: identity.MembershipChanged) -> None:
    """Whoever has left owns no risk any more (CMP-35)."""
    if event.status != "active":
        await risks.clear_owner(work, event.user_id)
