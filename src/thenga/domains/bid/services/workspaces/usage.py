"""Open workspaces count against the plan: room before one is opened, reports afterwards."""

from datetime import datetime

from sqlalchemy import func, select

from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.tables import Workspace, WorkspaceStatus
from thenga.domains.billing.public import UsageEntry, check_room
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

FEATURE = "bid.workspaces"
meter_workspace = job_stub("bid.meter_workspace", form=Form.OUTSIDE, key="{workspace_id}:{number}")


async def check_room_for_one(work: Work) -> None:
    """Refuse one more than the plan has, by our own count; one opening after the other."""
    turn = func.pg_advisory_xact_lock(func.hashtextextended(f"bid.open {work.organization_id}", 0))
    await work.value(select(turn))
    count = select(func.count()).where(
        Workspace.organization_id == work.organization_id,
        among(Workspace.status, tuple(sorted(WorkspaceLifecycle.COUNTED))),
        Workspace.origin == "platform",
    )
    await check_room(work, FEATURE, await work.value(count) or 0)


def report_usage(work: Work, workspace: Workspace, before: WorkspaceStatus | None) -> None:
    """Tell Billing of a workspace that opens, or is open no longer."""
    counted = workspace.status in WorkspaceLifecycle.COUNTED
    was_counted = before in WorkspaceLifecycle.COUNTED
    if workspace.origin == "platform" and counted != was_counted:
        work.enqueue(
            meter_workspace,
            workspace_id=workspace.id,
            number=workspace.version,
            operation="hold" if counted else "release",
            at=work.now,
        )


def entry_of(workspace: Workspace, *, number: int, operation: str, at: datetime) -> UsageEntry:
    """What Billing is told of one workspace."""
    return UsageEntry(
        meter=FEATURE,
        key=f"workspace:{workspace.id}:{number}",
        quantity=1,
        occurred_at=at,
        subject={"domain": "bid", "type": "workspace", "id": str(workspace.id)},
        operation="hold" if operation == "hold" else "release",
    )
