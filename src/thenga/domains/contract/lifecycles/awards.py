"""Moves of awards and contracts."""

from thenga.domains.contract.tables import AwardStatus, WorkspaceStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move


class AwardLifecycle(Lifecycle, initial=AwardStatus.AWAITING):
    """An award; a workspace is opened from it once (CON-2)."""

    open_ = Move(AwardStatus.AWAITING, to=AwardStatus.OPENED, by=By.SYSTEM)
    withdraw = Move(
        AwardStatus.AWAITING, AwardStatus.OPENED, to=AwardStatus.WITHDRAWN, by=By.SYSTEM
    )


class WorkspaceLifecycle(Lifecycle, initial=WorkspaceStatus.PENDING):
    """A contract, until its final account is agreed."""

    activate = Move(WorkspaceStatus.PENDING, to=WorkspaceStatus.ACTIVE)
    cancel = Move(WorkspaceStatus.PENDING, to=WorkspaceStatus.CANCELLED)
    suspend = Move(WorkspaceStatus.ACTIVE, to=WorkspaceStatus.SUSPENDED)
    resume = Move(WorkspaceStatus.SUSPENDED, to=WorkspaceStatus.ACTIVE)
    terminate = Move(
        WorkspaceStatus.ACTIVE, WorkspaceStatus.SUSPENDED, to=WorkspaceStatus.TERMINATED
    )
    begin_closing = Move(
        WorkspaceStatus.ACTIVE,
        WorkspaceStatus.TERMINATED,
        WorkspaceStatus.CLOSED,
        to=WorkspaceStatus.CLOSING,
        by=By.SYSTEM,
    )
    close = Move(WorkspaceStatus.CLOSING, to=WorkspaceStatus.CLOSED, by=By.SYSTEM)

    OVER = (WorkspaceStatus.CLOSED, WorkspaceStatus.CANCELLED)
    RUNNING = (WorkspaceStatus.ACTIVE, WorkspaceStatus.TERMINATED, WorkspaceStatus.CLOSING)
