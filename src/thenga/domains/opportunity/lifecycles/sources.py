"""Which moves a source and its runs have."""

from thenga.domains.opportunity.tables import RunStatus, SourceStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move

S, R = SourceStatus, RunStatus


class SourceLifecycle(Lifecycle, initial=S.DRAFT):
    """A source; only an active one is polled."""

    activate = Move(S.DRAFT, S.PAUSED, to=S.ACTIVE)
    pause = Move(S.ACTIVE, to=S.PAUSED)
    retire = Move(S.DRAFT, S.ACTIVE, S.PAUSED, to=S.RETIRED)


class RunLifecycle(Lifecycle, initial=R.QUEUED):
    """A run over a source."""

    start = Move(R.QUEUED, to=R.RUNNING, by=By.SYSTEM)
    succeed = Move(R.RUNNING, to=R.SUCCEEDED, by=By.SYSTEM)
    succeed_in_part = Move(R.RUNNING, to=R.PARTIAL, by=By.SYSTEM)
    fail = Move(R.QUEUED, R.RUNNING, to=R.FAILED, by=By.SYSTEM)
    cancel = Move(R.QUEUED, R.RUNNING, to=R.CANCELLED)
