"""The plan that follows from an executed variation, in its transaction (CON-31)."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

from thenga.domains.contract.services.delivery.plans import (
    GivenPlan,
    add_baselined,
    get_plan,
    keep_baseline,
)
from thenga.domains.contract.services.delivery.rules import percents_of
from thenga.domains.contract.services.delivery.scheduling import add_milestone, live_milestones
from thenga.domains.contract.tables import Milestone, Workspace
from thenga.domains.contract.values.changes import MilestoneChange
from thenga.domains.contract.values.plans import PlannedMilestone, plan_of_rows
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, extensions


class MilestoneGone(Problem):
    """The variation changes a milestone that is no longer in the plan.

    Withdraw the variation and draft a new one.
    """

    code, status, title = "contract-milestone-gone", 409, "A milestone no longer exists"
    members = extensions(keys=(list[str], "Keys of the missing milestones."))


async def rebaseline(
    work: Work,
    workspace: Workspace,
    *,
    changes: Sequence[MilestoneChange],
    variation_id: UUID,
    reason: str,
) -> int:
    """Write plan n + 1 from the milestones as they are and the changes; the number of it.

    A contract without a plan has none afterwards either: the number is 0.
    """
    if not workspace.plan_number:
        return 0
    held = {one.key: one for one in await live_milestones(work, workspace.id)}
    _refuse_gone(held, changes)
    before = plan_of_rows((await get_plan(work, workspace.id, workspace.plan_number)).milestones)
    planned = {one.key: one for one in before}
    for change in changes:
        known = planned.get(change.key)
        planned[change.key] = _changed(known, change, workspace)
    deltas = {one.key: one.amount_delta.minor for one in changes if one.amount_delta}
    amounts = {
        key: (held[key].amount_minor if key in held else 0) + deltas.get(key, 0) for key in planned
    }
    percents = percents_of(list(amounts.values()))
    plan_milestones = [
        replace(one, value_percent=percent)
        for one, percent in zip(planned.values(), percents, strict=True)
    ]
    given = GivenPlan(plan_milestones, reason=reason)
    plan = await add_baselined(work, workspace, given, variation_id=variation_id)
    milestones = [
        await _store(work, workspace, held.get(one.key), one, amounts[one.key], plan.number, place)
        for place, one in enumerate(plan_milestones)
    ]
    await keep_baseline(work, workspace, plan, milestones)
    return plan.number


async def _store(
    work: Work,
    workspace: Workspace,
    known: Milestone | None,
    planned: PlannedMilestone,
    amount: int,
    number: int,
    place: int,
) -> Milestone:
    if known is None:
        made = await add_milestone(work, workspace, planned, plan=number, place=place)
        made.amount_minor = amount
        return await work.add(made)
    milestone = await work.hold(known)
    milestone.amount_minor, milestone.value_percent = amount, planned.value_percent
    milestone.due_on, milestone.plan_number = planned.due_on, number
    milestone.next_check_at = work.now
    return await work.save(milestone)


def _changed(
    known: PlannedMilestone | None, change: MilestoneChange, workspace: Workspace
) -> PlannedMilestone:
    if known is not None:
        return replace(known, due_on=change.due_on or known.due_on)
    return PlannedMilestone(
        key=change.key,
        title=change.new_title or change.key,
        value_percent=Decimal(0),
        duration_days=0,
        due_on=change.due_on or workspace.current_ends_on,
    )


def _refuse_gone(held: dict[str, Milestone], changes: Sequence[MilestoneChange]) -> None:
    gone = [one.key for one in changes if one.key not in held and one.new_title is None]
    if gone:
        raise MilestoneGone(keys=gone)
