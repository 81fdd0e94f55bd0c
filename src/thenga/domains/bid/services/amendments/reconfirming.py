"""Reconfirmation: a person decides how the bid goes on after a material amendment (BID-50)."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.services import outcomes, workspaces
from thenga.domains.bid.services.amendments.effects import Effect
from thenga.domains.bid.tables import Ripple, Workspace, WorkspaceStatus
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, Problem, extensions


class BidNewerAmendment(Problem):
    """Read the bid again and reconfirm the newest amendment, `amendmentNumber`."""

    code, status, title = "bid-newer-amendment", 409, "There is a newer amendment"
    members = extensions(amendmentNumber=(int | None, "Number of the newest amendment."))


class BidEffectsOpen(Problem):
    """Review the effects in `keys` and acknowledge them."""

    code, status, title = "bid-effects-open", 409, "Effects of the amendment are open"
    members = extensions(keys=(list[str], "Keys of the effects to acknowledge."))


@dataclass(frozen=True, slots=True)
class Reconfirmation:
    """How a person decides; a bid that was submitted is withdrawn with a letter."""

    amendment_number: int
    decision: str
    acknowledged: frozenset[str]
    note: str | None
    reason: str | None = None
    file_id: UUID | None = None
    accept_consequences: bool = False


async def reconfirm(work: Work, workspace: Workspace, made: Reconfirmation) -> None:
    """Clear the flag of a locked workspace by naming the newest amendment and its effects."""
    ripple_id, tender_id = workspace.reconfirm_ripple_id, workspace.tender_opportunity_id
    if made.amendment_number != workspace.amendment_number:
        raise BidNewerAmendment(amendmentNumber=workspace.amendment_number)
    if ripple_id is None or tender_id is None:
        return
    await _close_ripples(work, workspace, made)
    workspace.reconfirm_amendment = workspace.reconfirm_ripple_id = None
    await _decide(work, workspace, made)
    await work.touch(workspace)
    work.publish(
        public.BidReconfirmed(
            organization_id=workspace.organization_id,
            workspace_id=workspace.id,
            tender_opportunity_id=tender_id,
            label=workspace.title,
            amendment_number=made.amendment_number,
            ripple_id=ripple_id,
            decision=made.decision,
            closing_at=workspace.closing_at,
        )
    )


async def _close_ripples(work: Work, workspace: Workspace, made: Reconfirmation) -> None:
    """Decide every material ripple that nobody has decided; their open effects are named."""
    statement = select(Ripple).where(
        Ripple.workspace_id == workspace.id,
        Ripple.material.is_(True),
        Ripple.decided_at.is_(None),
    )
    ripples = [await work.hold(one) for one in await work.all(statement.order_by(Ripple.id))]
    effects = {one.id: [Effect.of_row(row) for row in one.effects] for one in ripples}
    still_open = {
        one.key for found in effects.values() for one in found if one.handling == "open"
    } - made.acknowledged
    if still_open:
        raise BidEffectsOpen(keys=sorted(still_open))
    for ripple in ripples:
        ripple.effects = [one.acknowledged().to_row() for one in effects[ripple.id]]
        ripple.decision, ripple.note = made.decision, made.note
        ripple.decided_by, ripple.decided_at = workspaces.person_of(work), work.now
        await work.save(ripple)


async def _decide(work: Work, workspace: Workspace, made: Reconfirmation) -> None:
    """`resubmit` opens a bid that was submitted again, before the closing."""
    if made.decision == "resubmit":
        if workspace.gate_at is None or work.now >= workspace.gate_at:
            raise Conflict("The tender has closed; the bid cannot be submitted again.")
        await workspaces.move(work, workspace, WorkspaceLifecycle.resubmit, code="amendment")
    elif made.decision == "no_bid" and workspace.status is WorkspaceStatus.SUBMITTED:
        await outcomes.withdraw(
            work,
            workspace,
            reason=made.reason,
            file_id=made.file_id,
            accept_consequences=made.accept_consequences,
        )
    elif made.decision == "no_bid":
        await workspaces.decline(work, workspace, code="other", text=made.reason)
