"""What Opportunity published of an award: a hint beside the outcome, never the outcome itself."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid.services.outcomes.recording import find_outcome, new_outcome
from thenga.domains.bid.tables import Workspace
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

_MOST = 100_000

hint_everywhere = job_stub(
    "bid.hint_everywhere",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{event_id}",
    as_system=True,
)
hint_workspace = job_stub("bid.hint_workspace", form=Form.QUEUED, key="{workspace_id}:{event_id}")


async def spread_hint(work: Work, tender_id: UUID, event_id: UUID, awards: str) -> None:
    """Find the workspaces of a tender whose award was published; a job of the system login."""
    statement = select(Workspace.organization_id, Workspace.id).where(
        Workspace.tender_opportunity_id == tender_id
    )
    for organization_id, workspace_id in await work.records(statement.limit(_MOST)):
        work.enqueue(
            hint_workspace,
            organization_id=organization_id,
            workspace_id=workspace_id,
            event_id=event_id,
            awards=awards,
        )


async def store_hint(work: Work, workspace_id: UUID, hint: dict[str, Any]) -> None:
    """Keep a published award beside the outcome of a workspace; nothing else changes."""
    await work.lock(Workspace, workspace_id)
    outcome = await find_outcome(work, workspace_id)
    if outcome is None:
        outcome = await work.add(new_outcome(work, workspace_id))
    held = await work.hold(outcome)
    held.hint = hint | {"asOf": work.now.isoformat()}
    await work.save(held)
