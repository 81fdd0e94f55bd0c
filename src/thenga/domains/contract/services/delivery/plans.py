"""Plans: a draft is replaced whole, a baseline supersedes the one before (CON-7, CON-8)."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from sqlalchemy import select

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import PlanLifecycle, WorkspaceLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import awards, workspaces
from thenga.domains.contract.services.delivery.rules import (
    agreed_differences,
    check_baseline,
    check_plan,
)
from thenga.domains.contract.services.delivery.scheduling import (
    lay_out,
    live_milestones,
)
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.tables import Milestone, PlanRevision, PlanStatus, Workspace
from thenga.domains.contract.values.plans import Plan, plan_of_rows, rows_of_plan
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, PreconditionRequired
from thenga.kernel.values.money import Money

DUE_AFTER_END = "due_after_end"


@dataclass(frozen=True, slots=True)
class GivenPlan:
    """A plan as a person sends it."""

    milestones: Plan
    reason: str | None = None
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class Slip:
    """How far a milestone moved between two revisions, in calendar days."""

    key: str
    due_on: date | None
    other_due_on: date | None
    days: int | None


async def write_plan(work: Work, workspace_id: UUID, given: GivenPlan) -> tuple[PlanRevision, bool]:
    """Store a draft, or what delivery is measured against; and whether its number is new."""
    if given.baseline:
        await workspaces.demand(work, Permission.PLAN_BASELINE)
    workspace = await workspaces.workspace_for(work, workspace_id)
    check_plan(given.milestones)
    if given.baseline:
        await _check_can_baseline(work, workspace, given)
    draft = await _find(work, workspace_id, PlanStatus.DRAFT)
    is_new = draft is None
    if draft is None:
        plan = await work.add(_revision(workspace, given, number=await _next(work, workspace_id)))
    else:
        plan = await _replace(work, draft, workspace, given)
    if given.baseline:
        await _baseline(work, workspace, plan)
    return plan, is_new


async def get_plan(read: Reader, workspace_id: UUID, number: int | None) -> PlanRevision:
    """One revision, or the newest."""
    await workspaces.seen_workspace(read, workspace_id)
    statement = select(PlanRevision).where(PlanRevision.workspace_id == workspace_id)
    if number is not None:
        statement = statement.where(PlanRevision.number == number)
    found = await read.all(statement.order_by(PlanRevision.number.desc()), limit=1)
    if not found:
        raise NotFound("This contract has no such plan revision.")
    return found[0]


def compare(plan: PlanRevision, other: PlanRevision) -> list[Slip]:
    """How far each milestone moved from `other` to `plan` (CON-8)."""
    mine = {one.key: one.due_on for one in plan_of_rows(plan.milestones)}
    before = {one.key: one.due_on for one in plan_of_rows(other.milestones)}
    return [
        Slip(
            key,
            mine.get(key),
            before.get(key),
            (mine[key] - before[key]).days if key in mine and key in before else None,
        )
        for key in {**mine, **before}
    ]


async def keep_baseline(
    work: Work, workspace: Workspace, plan: PlanRevision, milestones: list[Milestone]
) -> None:
    """The plan is the baseline from now on: tell it, and mark the one before."""
    workspace.plan_number = plan.number
    await work.save(workspace)
    work.publish(
        public.DeliveryPlanBaselined(
            organization_id=plan.organization_id,
            workspace_id=workspace.id,
            plan_id=plan.id,
            plan_number=plan.number,
            finish_on=plan.finish_on,
            milestones=[
                public.PlannedMilestone(
                    milestone_id=one.id,
                    due_on=one.due_on,
                    amount=Money(one.amount_minor, one.currency),
                )
                for one in milestones
            ],
        )
    )


async def supersede(work: Work, workspace_id: UUID) -> None:
    """The baseline so far stays readable."""
    held = await _find(work, workspace_id, PlanStatus.BASELINED)
    if held is not None:
        plan = await work.hold(held)
        PlanLifecycle.supersede(plan, at=work.now)
        plan.status_changed_at, plan.status_changed_by = work.now, work.actor.id
        await work.save(plan)


async def add_baselined(
    work: Work, workspace: Workspace, given: GivenPlan, *, variation_id: UUID
) -> PlanRevision:
    """The plan that an executed variation makes; a draft gives way to it."""
    await supersede(work, workspace.id)
    draft = await _find(work, workspace.id, PlanStatus.DRAFT)
    if draft is not None:
        plan = await _replace(work, draft, workspace, given, is_checked=False)
    else:
        number = await _next(work, workspace.id)
        plan = await work.add(_revision(workspace, given, number=number))
    plan = await work.hold(plan)
    PlanLifecycle.baseline(plan, at=work.now)
    plan.variation_id = variation_id
    plan.status_changed_at, plan.status_changed_by = work.now, work.actor.id
    return await work.save(plan)


async def _check_can_baseline(work: Work, workspace: Workspace, given: GivenPlan) -> None:
    if workspace.status not in WorkspaceLifecycle.RUNNING:
        raise ContractNotActive()
    check_baseline(given.milestones)
    if not workspace.plan_number:
        return
    if not given.reason:
        raise missing("/reason", "Say why the plan changes.")
    refused = agreed_differences(given.milestones, await live_milestones(work, workspace.id))
    if refused:
        raise workspaces.NeedsVariation(fields=refused)


async def _baseline(work: Work, workspace: Workspace, plan: PlanRevision) -> None:
    await supersede(work, workspace.id)
    plan = await work.hold(plan)
    PlanLifecycle.baseline(plan, at=work.now)
    plan.status_changed_at, plan.status_changed_by = work.now, work.actor.id
    await work.save(plan)
    milestones = await lay_out(work, workspace, plan)
    await keep_baseline(work, workspace, plan, milestones)


async def _replace(
    work: Work,
    draft: PlanRevision,
    workspace: Workspace,
    given: GivenPlan,
    *,
    is_checked: bool = True,
) -> PlanRevision:
    if is_checked and work.if_match is None:
        raise PreconditionRequired("Send the version of the draft you are replacing in `If-Match`.")
    plan = await work.lock(PlanRevision, draft.id, beside=not is_checked)
    made = _revision(workspace, given, number=plan.number)
    plan.milestones, plan.content_hash = made.milestones, made.content_hash
    plan.reason, plan.finish_on, plan.warnings = made.reason, made.finish_on, made.warnings
    return await work.save(plan)


def _revision(workspace: Workspace, given: GivenPlan, *, number: int) -> PlanRevision:
    rows = rows_of_plan(given.milestones)
    late = any(one.due_on > workspace.current_ends_on for one in given.milestones)
    return PlanRevision(
        organization_id=workspace.organization_id,
        workspace_id=workspace.id,
        number=number,
        reason=given.reason,
        milestones=rows,
        content_hash=awards.hash_of({"milestones": rows}),
        finish_on=max(one.due_on for one in given.milestones),
        warnings=[DUE_AFTER_END] if late else [],
    )


async def _find(read: Reader, workspace_id: UUID, status: PlanStatus) -> PlanRevision | None:
    statement = (
        select(PlanRevision)
        .where(PlanRevision.workspace_id == workspace_id)
        .where(PlanRevision.status == status)
    )
    return next(iter(await read.all(statement, limit=1)), None)


async def _next(read: Reader, workspace_id: UUID) -> int:
    statement = (
        select(PlanRevision)
        .where(PlanRevision.workspace_id == workspace_id)
        .order_by(PlanRevision.number.desc())
    )
    found = await read.all(statement, limit=1)
    return found[0].number + 1 if found else 1
