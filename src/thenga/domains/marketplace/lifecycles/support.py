"""Which moves support requests can make."""

from thenga.domains.marketplace.tables.support import SupportStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move

S = SupportStatus


class SupportRequestLifecycle(Lifecycle, initial=S.OPEN):
    """Staff resolve it; the organization that opened it closes it, also without an answer."""

    resolve = Move(S.OPEN, to=S.RESOLVED, by=By.STAFF)
    close = Move(S.OPEN, S.RESOLVED, to=S.CLOSED)
