"""What Compliance does when Identity publishes an event."""

from thenga.domains.compliance.reactions.declared import reactions
from thenga.domains.compliance.services import evidence
from thenga.domains.identity import public as identity
from thenga.kernel.db.work import Work


@reactions.on(identity.MembershipChanged)
async def release_verifications(work: Work, event: identity.MembershipChanged) -> None:
    """What somebody who left was verifying goes back to the queue (CMP-17)."""
    if event.status != "active":
        await evidence.release_from(work, event.user_id)
