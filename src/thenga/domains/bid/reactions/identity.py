"""What Identity tells: who has left an organization (BID-9)."""

from thenga.domains.bid.reactions.declared import reactions
from thenga.domains.bid.services import approvals, planning, proposals, workspaces
from thenga.domains.identity.public import MembershipChanged
from thenga.kernel.db.work import Work


@reactions.on(MembershipChanged)
async def release_leaver(work: Work, event: MembershipChanged) -> None:
    """Tasks lose their owner, sections pass to the manager, teams lose the person."""
    if event.status == "removed":
        await workspaces.release_person(work, event.user_id)
        await planning.release_owner(work, event.user_id)
        await proposals.pass_to_manager(work, event.user_id)
        await approvals.drop_approver(work, event.user_id)
