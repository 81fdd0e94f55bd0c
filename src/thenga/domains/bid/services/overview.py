"""A workspace with what belongs to it, within what the caller may see."""

from collections.abc import Set
from dataclasses import dataclass

from sqlalchemy import select

from thenga.domains.bid.services import (
    amendments,
    outcomes,
    packs,
    planning,
    proposals,
    workspaces,
)
from thenga.domains.bid.services.planning import Milestone
from thenga.domains.bid.services.proposals import Coverage, MatrixState
from thenga.domains.bid.services.workspaces import TenderState
from thenga.domains.bid.tables import (
    Approval,
    Draft,
    Outcome,
    Pack,
    Plan,
    Ripple,
    SbdForm,
    Section,
    Task,
    TenderRef,
    Workspace,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


@dataclass(frozen=True, slots=True)
class Overview:
    """A workspace, its tender and the parts that were asked for."""

    workspace: Workspace
    tender: TenderRef | None
    tender_state: TenderState
    withheld: list[str]
    plan: tuple[Plan, list[Milestone]] | None = None
    tasks: list[Task] | None = None
    drafts: list[tuple[Draft, list[Section]]] | None = None
    matrix: tuple[list[MatrixState], Coverage] | None = None
    outcome: Outcome | None = None
    ripples: list[Ripple] | None = None
    forms: list[SbdForm] | None = None
    approvals: list[Approval] | None = None
    pack: Pack | None = None


async def describe(read: Reader, workspace: Workspace, wanted: Set[str]) -> Overview:
    """The workspace with the parts that were asked for; Opportunity is asked once by readers."""
    tender = await workspaces.stored_tender(read, workspace)
    plan = await planning.current_plan(read, workspace.id) if "plan" in wanted else None
    has_drafts = "drafts" in wanted
    return Overview(
        workspace=workspace,
        tender=tender,
        tender_state=await _tender_state(read, workspace, tender),
        withheld=[] if workspaces.has_price(read, workspace) else ["price"],
        plan=None if plan is None else (plan, await planning.milestones_of(read, workspace, plan)),
        tasks=await planning.tasks_of(read, workspace.id) if "tasks" in wanted else None,
        drafts=await proposals.drafts_of(read, workspace) if has_drafts else None,
        matrix=await _matrix(read, workspace) if "matrix" in wanted else None,
        outcome=await outcomes.find_outcome(read, workspace.id) if "outcome" in wanted else None,
        ripples=await amendments.ripples_of(read, workspace.id) if "ripples" in wanted else None,
        forms=await _forms(read, workspace) if "forms" in wanted else None,
        approvals=await _approvals(read, workspace) if "approvals" in wanted else None,
        pack=await packs.current_pack(read, workspace.id) if "pack" in wanted else None,
    )


async def _tender_state(
    read: Reader, workspace: Workspace, tender: TenderRef | None
) -> TenderState:
    """Whoever writes has asked, or needs no other answer than what is stored."""
    if tender is None or isinstance(read, Work):
        return "live"
    return workspaces.state_of(tender, await workspaces.tender_of(read, workspace))


async def _matrix(read: Reader, workspace: Workspace) -> tuple[list[MatrixState], Coverage]:
    """The matrix; after a write no port is asked any more, so what is stored is shown."""
    if not isinstance(read, Work):
        return await proposals.live_matrix(read, workspace)
    states = await proposals.matrix_of(read, workspace.id)
    return states, await proposals.coverage_of(read, states)


async def _forms(read: Reader, workspace: Workspace) -> list[SbdForm]:
    statement = select(SbdForm).where(SbdForm.workspace_id == workspace.id)
    return await read.all(statement.order_by(SbdForm.id), limit=100)


async def _approvals(read: Reader, workspace: Workspace) -> list[Approval]:
    """The newest first."""
    statement = select(Approval).where(Approval.workspace_id == workspace.id)
    return await read.all(statement.order_by(Approval.id.desc()), limit=100)
