"""What a material amendment takes back: approvals, the seal and outdated forms (BID-39, BID-47)."""

from thenga.domains.bid.services import approvals, forms, packs
from thenga.domains.bid.services.amendments.effects import Effect
from thenga.domains.bid.tables import Workspace
from thenga.kernel.db.work import Work


async def undo_decisions(work: Work, workspace: Workspace, *, because: str) -> list[Effect]:
    """Unseal the pack and void approvals; the workspace is to be read again afterwards."""
    effects = [
        Effect(f"approval:{one.id}", "approval", "voided", None, None, "automatic")
        for one in await approvals.void_for(work, workspace.id, because)
    ]
    pack = await packs.unseal_for(work, workspace.id, because)
    if pack is not None:
        effects.append(Effect(f"pack:{pack.id}", "pack", "unsealed", None, None, "automatic"))
    return effects


async def outdate_forms(work: Work, workspace: Workspace, *, because: str) -> list[Effect]:
    """Outdate the forms that cite what the tender no longer says; somebody looks at each."""
    return [
        Effect(f"form:{one.id}", "form", "outdated", None, None, "open")
        for one in await forms.outdate_for(work, workspace, because)
    ]
