"""What operators see of an organization's bids."""

from sqlalchemy import and_

from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.tables import Pack, PackStatus, Workspace
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState

_OPEN = tuple(sorted(WorkspaceLifecycle.COUNTED))


async def summarize(read: Reader) -> Panel:
    """How many workspaces are open or must be reconfirmed, and how many builds failed."""
    counts = await panels.count(
        read,
        workspaces_open=(Workspace, among(Workspace.status, _OPEN)),
        reconfirmations_open=(
            Workspace,
            and_(among(Workspace.status, _OPEN), Workspace.reconfirm_amendment.is_not(None)),
        ),
        builds_failed=(Pack, Pack.status == PackStatus.FAILED),
    )
    shown = {one.key: one.value for one in counts}
    state = PanelState.WARN if shown["builds_failed"] else PanelState.OK
    return Panel(figures=list(counts), state=state)
