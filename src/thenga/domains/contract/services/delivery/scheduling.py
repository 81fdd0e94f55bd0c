"""Milestones and deliverables as a baseline lays them out; their identifiers stay (CON-8)."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.contract.lifecycles import DeliverableLifecycle
from thenga.domains.contract.services.delivery.rules import divide
from thenga.domains.contract.tables import (
    Deliverable,
    DeliverableStatus,
    Milestone,
    MilestoneStatus,
    PlanRevision,
    Workspace,
)
from thenga.domains.contract.values.plans import PlannedDeliverable, PlannedMilestone, plan_of_rows
from thenga.domains.contract.values.refusals import invalid
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.values.money import Money

_OPEN_DELIVERABLES = (DeliverableStatus.PLANNED, DeliverableStatus.IN_PROGRESS)
_PLANNED = (
    "title",
    "kind",
    "value_percent",
    "start_not_before",
    "duration_days",
    "calendar",
    "due_on",
    "technique",
    "practical_completion",
)


async def live_milestones(read: Reader, workspace_id: UUID) -> list[Milestone]:
    """The milestones of a contract that were not removed, in the order of the plan."""
    statement = (
        select(Milestone)
        .where(Milestone.workspace_id == workspace_id)
        .where(Milestone.status != MilestoneStatus.REMOVED)
        .order_by(Milestone.position, Milestone.id)
    )
    return await read.all(statement)


async def refuse_foreign(
    read: Reader, workspace_id: UUID, milestone_ids: Sequence[UUID], pointer: str
) -> None:
    """Refuse milestones of other contracts as if they did not exist."""
    if not milestone_ids:
        return
    statement = select(Milestone).where(among(Milestone.id, milestone_ids))
    found = await read.all(statement.where(Milestone.workspace_id == workspace_id))
    if {one.id for one in found} != set(milestone_ids):
        raise invalid(pointer, "Choose milestones of this contract.", "unknown")


async def deliverables_of(
    read: Reader, milestone_ids: Sequence[UUID]
) -> dict[UUID, list[Deliverable]]:
    """The deliverables of milestones that were not removed, by milestone."""
    found: dict[UUID, list[Deliverable]] = {one: [] for one in milestone_ids}
    if not milestone_ids:
        return found
    statement = (
        select(Deliverable)
        .where(among(Deliverable.milestone_id, milestone_ids))
        .where(Deliverable.status != DeliverableStatus.REMOVED)
        .order_by(Deliverable.position, Deliverable.id)
    )
    for one in await read.all(statement, limit=10_000):
        found[one.milestone_id].append(one)
    return found


async def lay_out(work: Work, workspace: Workspace, plan: PlanRevision) -> list[Milestone]:
    """Write the milestones of a baseline. The first one divides the contract value.

    From then on the amount is the fact and the percentage is shown (CON-7).
    """
    planned = plan_of_rows(plan.milestones)
    held = {one.key: one for one in await live_milestones(work, workspace.id)}
    value = Money(workspace.current_value_minor, workspace.currency)
    shares = divide(value, [one.value_percent for one in planned])
    milestones = []
    for place, (one, share) in enumerate(zip(planned, shares, strict=True)):
        known = held.get(one.key)
        if known is None:
            made = await add_milestone(work, workspace, one, plan=plan.number, place=place)
            made.amount_minor = 0 if held else share.minor
            milestone = await work.add(made)
        else:
            milestone = await _replan(work, known, one, plan=plan.number, place=place)
        await _lay_out_deliverables(work, milestone, one.deliverables)
        milestones.append(milestone)
    return milestones


async def add_milestone(
    work: Work, workspace: Workspace, planned: PlannedMilestone, *, plan: int, place: int
) -> Milestone:
    """A new milestone of a plan, still without an amount and not added yet."""
    return Milestone(
        organization_id=workspace.organization_id,
        workspace_id=workspace.id,
        key=planned.key,
        position=place,
        depends_on=_stored_dependencies(planned),
        currency=workspace.currency,
        amount_minor=0,
        evidence_refs=[],
        missing=[],
        plan_number=plan,
        told_reasons=[],
        next_check_at=work.now,
        **{name: getattr(planned, name) for name in _PLANNED},
    )


async def _replan(
    work: Work, known: Milestone, planned: PlannedMilestone, *, plan: int, place: int
) -> Milestone:
    milestone = await work.hold(known)
    changed = {name: getattr(planned, name) for name in _PLANNED}
    changed |= {"position": place, "depends_on": _stored_dependencies(planned)}
    merge_patch(milestone, changed)
    milestone.plan_number, milestone.next_check_at = plan, work.now
    return await work.save(milestone)


async def _lay_out_deliverables(
    work: Work, milestone: Milestone, planned: Sequence[PlannedDeliverable]
) -> None:
    """Deliverables that nobody decided follow the plan; decided ones stay as they are."""
    held = {one.key: one for one in (await deliverables_of(work, [milestone.id]))[milestone.id]}
    for place, one in enumerate(planned):
        known = held.pop(one.key, None)
        fields: dict[str, Any] = {
            "position": place,
            "title": one.title,
            "acceptance_criteria": one.acceptance_criteria,
            "due_on": one.due_on,
            "weight": one.weight,
            "required": one.required,
        }
        if known is None:
            await work.add(
                Deliverable(
                    organization_id=milestone.organization_id,
                    workspace_id=milestone.workspace_id,
                    milestone_id=milestone.id,
                    key=one.key,
                    evidence_refs=[],
                    **fields,
                )
            )
        elif known.status in _OPEN_DELIVERABLES:
            row = await work.hold(known)
            merge_patch(row, fields)
            await work.save(row)
    for gone in held.values():
        if gone.status in _OPEN_DELIVERABLES:
            row = await work.hold(gone)
            DeliverableLifecycle.remove(row, at=work.now)
            await work.save(row)


def _stored_dependencies(planned: PlannedMilestone) -> list[dict[str, object]]:
    return [{"key": part.key, "lag_days": part.lag_days} for part in planned.depends_on]
