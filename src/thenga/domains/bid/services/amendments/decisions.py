"""Decisions that a material amendment takes back: approvals and the seal (BID-39, BID-47)."""

from sqlalchemy import select

from thenga.domains.bid.lifecycles import ApprovalLifecycle, PackLifecycle
from thenga.domains.bid.services.amendments.effects import Effect
from thenga.domains.bid.tables import Approval, ApprovalStatus, Pack, PackStatus, Workspace
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work

_LIVE = (ApprovalStatus.REQUESTED, ApprovalStatus.APPROVED)


async def undo_decisions(work: Work, workspace: Workspace, *, because: str) -> list[Effect]:
    """Void approvals and unseal the pack; what was done is listed as automatic."""
    effects = []
    approvals = select(Approval).where(
        Approval.workspace_id == workspace.id, among(Approval.status, _LIVE)
    )
    for found in await work.all(approvals):
        held = await work.hold(found)
        ApprovalLifecycle.void(held, at=work.now)
        await work.save(held)
        key = f"approval:{held.id}"
        effects.append(Effect(key, "approval", "voided", None, None, "automatic"))
    packs = select(Pack).where(Pack.workspace_id == workspace.id, Pack.status == PackStatus.SEALED)
    for pack in await work.all(packs):
        sealed = await work.hold(pack)
        PackLifecycle.unseal(sealed, at=work.now)
        await work.save(sealed)
        key = f"pack:{sealed.id}"
        effects.append(Effect(key, "pack", "unsealed", None, None, "automatic"))
    return effects
