"""What operators see of an organization's support cases."""

from thenga.domains.administration.tables import SupportCase, SupportCaseStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState


async def summarize(read: Reader) -> Panel:
    """How many cases are open, and how many of them are late."""
    unresolved = SupportCase.status != SupportCaseStatus.RESOLVED
    figures = await panels.count(
        read,
        cases_open=(SupportCase, unresolved),
        cases_late=(SupportCase, unresolved & (SupportCase.due_at <= read.now)),
    )
    late = next(one.value for one in figures if one.key == "cases_late")
    return Panel(figures=figures, state=PanelState.WARN if late else PanelState.OK)
