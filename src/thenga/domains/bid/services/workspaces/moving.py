"""Moves of a workspace, each told by its event; time, a cancelled tender and no bid."""

from typing import Any, get_args
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.services.workspaces.access import person_of, status_at
from thenga.domains.bid.services.workspaces.usage import report_usage
from thenga.domains.bid.tables import Workspace, WorkspaceStatus
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import Move, explain
from thenga.kernel.errors import RuleViolated

NO_BID_CODES: tuple[str, ...] = get_args(public.NoBidReason)
_MOST = 100_000

cancel_everywhere = job_stub(
    "bid.cancel_everywhere",
    form=Form.QUEUED,
    key="{tender_opportunity_id}",
    as_system=True,
)
cancel_workspace = job_stub("bid.cancel_workspace", form=Form.QUEUED, key="{workspace_id}")


async def move(
    work: Work,
    workspace: Workspace,
    made: Move,
    *,
    code: str | None = None,
    text: str | None = None,
) -> bool:
    """Make a move, save and publish it; False where the workspace is there already."""
    before = workspace.status
    if not made(workspace, at=work.now):
        return False
    explain(workspace, at=work.now, by=person_of(work), code=code or made.verb, text=text)
    workspace.next_check_at = (
        workspace.gate_at if workspace.status in WorkspaceLifecycle.BEFORE_SUBMISSION else None
    )
    await work.save(workspace)
    report_usage(work, workspace, before)
    work.publish(changed_of(workspace, before, code))
    return True


def told_of(workspace: Workspace) -> dict[str, Any]:
    """What every event of a bid says."""
    return {
        "organization_id": workspace.organization_id,
        "workspace_id": workspace.id,
        "tender_opportunity_id": workspace.tender_opportunity_id,
        "label": workspace.title,
    }


def changed_of(
    workspace: Workspace, before: WorkspaceStatus | None, code: str | None
) -> public.BidWorkspaceChanged:
    """The event of a workspace that has another status."""
    return public.BidWorkspaceChanged(
        **told_of(workspace),
        status=workspace.status.value,
        previous_status=None if before is None else before.value,
        reason_code=code,
        closing_at=workspace.closing_at,
        bid_manager_user_id=workspace.bid_manager_user_id,
    )


async def decline(work: Work, workspace: Workspace, *, code: str | None, text: str | None) -> None:
    """Decide not to bid, with a reason (BID-53)."""
    if code is None:
        raise RuleViolated(
            "Give the reason for not bidding.",
            rule="BID-53",
            field="reasonCode",
            allowed=[*NO_BID_CODES],
        )
    await settle_by_time(work, workspace)
    await move(work, workspace, WorkspaceLifecycle.no_bid, code=code, text=text)


async def resume(work: Work, workspace: Workspace) -> None:
    """Bid after all, while the tender is open."""
    await move(work, workspace, WorkspaceLifecycle.resume)


async def lapse(work: Work, workspace_id: UUID) -> None:
    """The closing has passed without a submission; a job of time."""
    workspace = await work.lock(Workspace, workspace_id)
    if not await settle_by_time(work, workspace):
        workspace.next_check_at = (
            workspace.gate_at if workspace.status in WorkspaceLifecycle.BEFORE_SUBMISSION else None
        )
        await work.save(workspace)


async def settle_by_time(work: Work, workspace: Workspace) -> bool:
    """Store what the clock has made of a workspace before anything else happens to it."""
    if status_at(workspace, work.now) is workspace.status:
        return False
    return await move(work, workspace, WorkspaceLifecycle.lapse, code="closing_passed")


async def spread_cancellation(work: Work, tender_id: UUID, reason: str) -> None:
    """Find the workspaces of a tender that was cancelled; a job of the system login."""
    statement = select(Workspace.organization_id, Workspace.id).where(
        Workspace.tender_opportunity_id == tender_id
    )
    for organization_id, workspace_id in await work.records(statement.limit(_MOST)):
        work.enqueue(
            cancel_workspace,
            organization_id=organization_id,
            workspace_id=workspace_id,
            reason=reason,
        )


async def cancel(work: Work, workspace_id: UUID, reason: str) -> None:
    """End the bid on a tender that was cancelled, withdrawn or replaced."""
    workspace = await work.lock(Workspace, workspace_id)
    if workspace.status in WorkspaceLifecycle.TERMINAL:
        return
    await settle_by_time(work, workspace)
    await move(work, workspace, WorkspaceLifecycle.cancel, code=f"tender_{reason}")
