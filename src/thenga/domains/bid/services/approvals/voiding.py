"""Approvals that no longer count: what was approved changed, time is over, or an amendment came
(BID-39). A voided approval is never revived."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import ApprovalLifecycle, WorkspaceLifecycle
from thenga.domains.bid.services import pricing, workspaces
from thenga.domains.bid.tables import (
    Approval,
    ApprovalStatus,
    Workbook,
    Workspace,
    WorkspaceStatus,
)
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move, explain

PRICE, PACK = "price", "pack"
_LIVE = (ApprovalStatus.REQUESTED, ApprovalStatus.APPROVED)


async def void_for(
    work: Work, workspace_id: UUID, because: str, *, kinds: Collection[str] = (PRICE, PACK)
) -> list[Approval]:
    """Void the requested and given approvals of a workspace; the price returns to draft, and a
    workspace in review to preparing."""
    statement = select(Approval).where(
        Approval.workspace_id == workspace_id,
        among(Approval.kind, list(kinds)),
        among(Approval.status, list(_LIVE)),
    )
    found = await work.all(statement.order_by(Approval.id))
    if not found:
        return []
    workspace = await work.lock(Workspace, workspace_id, beside=True)
    return [await end(work, workspace, one.id, ApprovalLifecycle.void, because) for one in found]


async def end(
    work: Work, workspace: Workspace, approval_id: UUID, move: Move, because: str
) -> Approval:
    """End an approval without a decision, and take its subject back."""
    approval = await work.lock(Approval, approval_id, beside=True)
    if not move(approval, at=work.now):
        return approval
    explain(approval, at=work.now, by=workspaces.person_of(work), code=because)
    approval.next_check_at = None
    await work.save(approval)
    await take_back(work, workspace, approval, because)
    work.publish(public.ApprovalVoided(**kind_facts(workspace, approval), cause=because))
    return approval


async def take_back(work: Work, workspace: Workspace, approval: Approval, because: str) -> None:
    """The subject of an approval that ended without a yes is worked on again."""
    if approval.kind == PRICE:
        workbook = await work.lock(Workbook, approval.subject_id, beside=True)
        before = workbook.status
        pricing.return_to_draft(work, workbook, because)
        if workbook.status is not before:
            await work.save(workbook)
            work.publish(pricing.event_of(workspace, workbook))
    elif workspace.status is WorkspaceStatus.IN_REVIEW:
        await workspaces.move(work, workspace, WorkspaceLifecycle.return_, code=because)


async def expire(work: Work, approval_id: UUID) -> None:
    """Nobody decided in time; a job of time."""
    approval = await work.lock(Approval, approval_id)
    if approval.status is not ApprovalStatus.REQUESTED or approval.expires_at > work.now:
        approval.next_check_at = (
            approval.expires_at if approval.status is ApprovalStatus.REQUESTED else None
        )
        await work.save(approval)
        return
    workspace = await work.lock(Workspace, approval.workspace_id, beside=True)
    await end(work, workspace, approval_id, ApprovalLifecycle.expire, "expired")


def event_facts(workspace: Workspace, approval: Approval) -> dict[str, Any]:
    """What every event of an approval says; never an amount."""
    about = public.ApprovedSubject(
        type="workbook" if approval.kind == PRICE else "pack",
        id=approval.subject_id,
        version=approval.subject_version,
        sha256=approval.subject_sha256,
    )
    return {
        **workspaces.told_of(workspace),
        "approval_id": approval.id,
        "about": about,
    }


def kind_facts(workspace: Workspace, approval: Approval) -> dict[str, Any]:
    """As `event_facts`, with the kind of the approval."""
    return {**event_facts(workspace, approval), "kind": approval.kind}
