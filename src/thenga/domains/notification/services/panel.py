"""What operators see of an organization's messages."""

from thenga.domains.notification.tables import Delivery, DeliveryStatus, Request, RequestStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState

_OPEN = (RequestStatus.ACCEPTED, RequestStatus.RESOLVING, RequestStatus.DISPATCHING)


async def summarize(read: Reader) -> Panel:
    """How many requests are open or were rejected, and how many deliveries failed."""
    open_requests = among(Request.status, _OPEN)
    failed = among(Delivery.status, (DeliveryStatus.UNDELIVERED, DeliveryStatus.BOUNCED))
    counts = await panels.count(
        read,
        requests_open=(Request, open_requests),
        requests_rejected=(Request, Request.status == RequestStatus.REJECTED),
        deliveries_failed=(Delivery, failed),
    )
    shown = {one.key: one.value for one in counts}
    state = PanelState.WARN if shown["requests_rejected"] else PanelState.OK
    return Panel(figures=list(counts), state=state)
