"""What operators see of an organization's contracts."""

from thenga.domains.contract.tables import Award, AwardStatus, Workspace, WorkspaceStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState


async def summarize(read: Reader) -> Panel:
    """How many awards wait and how many contracts are pending, active and suspended."""
    counts = await panels.count(
        read,
        awards_waiting=(Award, Award.status == AwardStatus.AWAITING),
        contracts_pending=(Workspace, Workspace.status == WorkspaceStatus.PENDING),
        contracts_active=(Workspace, Workspace.status == WorkspaceStatus.ACTIVE),
        contracts_suspended=(Workspace, Workspace.status == WorkspaceStatus.SUSPENDED),
    )
    return Panel(figures=list(counts), state=PanelState.OK)
