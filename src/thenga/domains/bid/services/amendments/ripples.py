"""The ripple of an amendment through one workspace, once, in one transaction (BID-49)."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.services import planning, proposals, workspaces
from thenga.domains.bid.services.amendments.decisions import outdate_forms, undo_decisions
from thenga.domains.bid.services.amendments.effects import (
    Effect,
    closing_effect,
    requirement_effects,
    terms_effects,
)
from thenga.domains.bid.tables import MatrixRow, Ripple, TenderRef, Workspace, WorkspaceStatus
from thenga.domains.opportunity.public import Tender
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import DependencyUnavailable

_MOST = 100_000
_CAUSE = "amendment"

ripple_everywhere = job_stub(
    "bid.ripple_everywhere",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{amendment_number}",
    as_system=True,
)
apply_ripple = job_stub(
    "bid.apply_ripple", form=Form.QUEUED, key="{workspace_id}:{amendment_number}"
)

refresh_everywhere = job_stub(
    "bid.refresh_everywhere",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{event_id}",
    as_system=True,
)
refresh_workspace = job_stub("bid.refresh_workspace", form=Form.QUEUED, key="{workspace_id}")


async def spread(
    work: Work, tender_id: UUID, *, amendment_number: int, material: bool, event_id: UUID
) -> None:
    """Find the bids on an amended tender; a job of the system login enqueues one job for each."""
    statement = select(Workspace.organization_id, Workspace.id).where(
        Workspace.tender_opportunity_id == tender_id
    )
    for organization_id, workspace_id in await work.records(statement.limit(_MOST)):
        work.enqueue(
            apply_ripple,
            organization_id=organization_id,
            workspace_id=workspace_id,
            amendment_number=amendment_number,
            material=material,
            event_id=event_id,
        )


async def apply(
    work: Work, workspace_id: UUID, *, amendment_number: int, material: bool, event_id: UUID
) -> None:
    """Apply an amendment to one bid; an older or repeated one is only noted."""
    seen = await work.get(Workspace, workspace_id)
    if seen.tender_opportunity_id is None or seen.status in WorkspaceLifecycle.TERMINAL:
        return
    tender = await workspaces.ask_tender(work, seen.tender_opportunity_id)
    workspace = await work.lock(Workspace, workspace_id)
    if amendment_number <= workspace.amendment_number:
        target = ("workspace", workspace_id)
        work.note("bid.amendment.older", target, {"amendmentNumber": amendment_number})
        return
    stored = await workspaces.stored_tender(work, workspace)
    if tender is None or stored is None:
        raise DependencyUnavailable(dependency="opportunity.tenders")
    await workspaces.settle_by_time(work, workspace)
    effects = await _effects(work, workspace, stored, tender)
    workspace.amendment_number = amendment_number
    workspace.closing_at, workspace.gate_at = tender.closing_at, workspaces.gate_of(tender)
    await work.save(workspace)
    stored = await workspaces.store_tender(work, workspace, tender)
    if material:
        effects += await undo_decisions(work, workspace, because=_CAUSE)
    effects += await outdate_forms(work, workspace, because=_CAUSE)
    workspace = await work.lock(Workspace, workspace_id)  # other rooms may have moved it
    ripple = await work.add(
        Ripple(
            organization_id=work.organization_id,
            workspace_id=workspace_id,
            amendment_number=amendment_number,
            causation_event_id=event_id,
            material=material,
            effects=[one.to_row() for one in effects],
        )
    )
    await _reschedule(work, workspace, stored, effects)
    await _conclude(work, workspace, ripple, effects)


async def _effects(
    work: Work, workspace: Workspace, stored: TenderRef, tender: Tender
) -> list[Effect]:
    """What is touched; rows of the matrix are brought to the new requirements at once."""
    rows = await proposals.rows_of(work, workspace.id)
    found = closing_effect(stored.closing_at, tender.closing_at)
    found += requirement_effects(rows, tender.requirements)
    found += terms_effects(stored.terms, tender, workspaces.read_terms(tender))
    await _refresh_rows(work, workspace, rows, tender)
    return found


async def _refresh_rows(
    work: Work, workspace: Workspace, rows: list[MatrixRow], tender: Tender
) -> None:
    known = {row.requirement_id: row for row in rows}
    now = {one.id: one for one in tender.requirements}
    for key, requirement in now.items():
        if key not in known:
            await proposals.add_row(work, workspace, requirement)
            continue
        held = await work.hold(known[key])
        for name, value in proposals.requirement_fields(requirement).items():
            setattr(held, name, value)
        held.removed_at = None
        if work.changes(held):
            held.requirement_as_of = work.now
            await work.save(held)
    for key, row in known.items():
        if key not in now and row.removed_at is None:
            held = await work.hold(row)
            held.removed_at = work.now
            await work.save(held)


async def _reschedule(
    work: Work, workspace: Workspace, stored: TenderRef, effects: list[Effect]
) -> None:
    """A moved closing brings a new draft of the plan, and revives a bid that has lapsed."""
    is_ahead = workspace.gate_at is not None and work.now < workspace.gate_at
    if workspace.status in WorkspaceLifecycle.BEFORE_SUBMISSION:
        workspace.next_check_at = workspace.gate_at
    await work.save(workspace)
    if workspace.status is WorkspaceStatus.LAPSED and is_ahead:
        await workspaces.move(work, workspace, WorkspaceLifecycle.revive, code=_CAUSE)
    is_open = workspace.status in WorkspaceLifecycle.BEFORE_SUBMISSION
    if is_open and any(one.key == "closing" for one in effects) and stored.closing_at is not None:
        plan = await planning.current_plan(work, workspace.id)
        due_time = "16:00" if plan is None else plan.due_time
        await planning.draft_plan(work, workspace, stored, due_time=due_time)


async def _conclude(
    work: Work, workspace: Workspace, ripple: Ripple, effects: list[Effect]
) -> None:
    """Coverage again; a material amendment needs a decision, a minor one is listed."""
    if ripple.material and workspace.status not in WorkspaceLifecycle.TERMINAL:
        workspace.reconfirm_amendment = ripple.amendment_number
        workspace.reconfirm_ripple_id = ripple.id
        if workspace.status in (WorkspaceStatus.IN_REVIEW, WorkspaceStatus.READY):
            await workspaces.move(work, workspace, WorkspaceLifecycle.return_, code=_CAUSE)
    if any(one.subject == "requirement" for one in effects):
        workspace.matrix_version += 1
    await proposals.refresh_coverage(work, workspace)
    await work.touch(workspace)
    kind = (
        public.BidReconfirmationRequired
        if workspace.reconfirm_ripple_id == ripple.id
        else public.BidAmendmentNoted
    )
    if workspace.tender_opportunity_id is None:
        return
    work.publish(
        kind(
            **workspaces.told_of(workspace),
            amendment_number=ripple.amendment_number,
            ripple_id=ripple.id,
            effect_keys=[one.key for one in effects][:200],
            closing_at=workspace.closing_at,
        )
    )


async def spread_refresh(work: Work, tender_id: UUID) -> None:
    """Find the bids on a tender whose requirements or dates changed without an amendment."""
    statement = select(Workspace.organization_id, Workspace.id).where(
        Workspace.tender_opportunity_id == tender_id
    )
    for organization_id, workspace_id in await work.records(statement.limit(_MOST)):
        work.enqueue(refresh_workspace, organization_id=organization_id, workspace_id=workspace_id)


async def refresh_tender(work: Work, workspace_id: UUID) -> None:
    """Bring rows and terms to what Opportunity says; an amendment is left to its ripple."""
    seen = await work.get(Workspace, workspace_id)
    if seen.tender_opportunity_id is None or seen.status in WorkspaceLifecycle.TERMINAL:
        return
    tender = await workspaces.ask_tender(work, seen.tender_opportunity_id)
    workspace = await work.lock(Workspace, workspace_id)
    if tender is None or tender.amendment_number != workspace.amendment_number:
        return
    rows = await proposals.rows_of(work, workspace_id)
    if requirement_effects(rows, tender.requirements):
        await _refresh_rows(work, workspace, rows, tender)
        workspace.matrix_version += 1
    await workspaces.store_tender(work, workspace, tender)
    await proposals.refresh_coverage(work, workspace)


async def ripples_of(read: Reader, workspace_id: UUID) -> list[Ripple]:
    """The ripples of a workspace, the newest first."""
    statement = select(Ripple).where(Ripple.workspace_id == workspace_id)
    return await read.all(statement.order_by(Ripple.amendment_number.desc()), limit=100)
