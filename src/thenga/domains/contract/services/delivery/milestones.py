"""Milestones: progress, and what the buyer decides (CON-11)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import MilestoneLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import workspaces
from thenga.domains.contract.services.delivery.lateness import milestones_at_risk
from thenga.domains.contract.services.delivery.scheduling import (
    deliverables_of,
    live_milestones,
)
from thenga.domains.contract.services.workspaces import Proof
from thenga.domains.contract.tables import (
    Confirmation,
    Deliverable,
    DeliverableStatus,
    Milestone,
    MilestoneStatus,
    Workspace,
)
from thenga.domains.contract.values import refusals
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated, extensions
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_WHOLE = Decimal(100)
_DECISIONS = ("accept", "accept_partly", "reject")
_DELIVERED = (DeliverableStatus.DELIVERED, DeliverableStatus.ACCEPTED)
_BY: dict[str, ColumnElement[Any]] = {
    "dueOn": Milestone.due_on,
    "createdAt": Milestone.created_at,
}


class MilestoneIncomplete(Problem):
    """Required deliverables are missing. `deliverables` lists their keys.

    Deliver them before you submit the milestone. Record their acceptance before you accept it.
    """

    code, status, title = "contract-milestone-incomplete", 409, "This milestone is incomplete"
    members = extensions(deliverables=(list[str], "Keys of the missing deliverables."))


@dataclass(frozen=True, slots=True)
class DeliveryMove:
    """A move of a milestone or deliverable, with what it needs."""

    verb: str
    reason: str | None = None
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class MilestoneFilters:
    """What the list may be narrowed to."""

    workspace_id: UUID | None = None
    status: MilestoneStatus | None = None
    overdue: bool | None = None
    at_risk: bool | None = None
    due_before: date | None = None


async def list_milestones(
    read: Reader, paged: Paged, filters: MilestoneFilters
) -> Slice[Milestone]:
    """Milestones of all contracts, or of one."""
    statement = where_given(
        select(Milestone),
        (Milestone.workspace_id, filters.workspace_id),
        (Milestone.status, filters.status),
    )
    if filters.due_before is not None:
        statement = statement.where(Milestone.due_on < filters.due_before)
    if filters.overdue is not None:
        over = (Milestone.due_on < local_day(read.now)) & ~among(
            Milestone.status, MilestoneLifecycle.DONE
        )
        statement = statement.where(over if filters.overdue else ~over)
    if filters.at_risk is not None:
        risky = among(Milestone.id, await milestones_at_risk(read))
        statement = statement.where(risky if filters.at_risk else ~risky)
    return await read.page(statement, paged, by=_BY[paged.sort])


async def change_milestone(
    work: Work, milestone_id: UUID, *, fields: Mapping[str, Any], move: DeliveryMove | None
) -> Milestone:
    """Track progress, and make one move."""
    known = await work.get(Milestone, milestone_id)
    if move is not None and move.verb in (*_DECISIONS, "waive"):
        await workspaces.demand(work, Permission.MILESTONE_DECIDE)
    workspace = await workspaces.active_workspace_for(work, known.workspace_id)
    milestone = await work.lock(Milestone, milestone_id)
    merge_patch(milestone, fields)
    if move is not None:
        await _make(work, workspace, milestone, move)
    if not work.changes(milestone):
        return milestone
    if milestone.status not in MilestoneLifecycle.DONE:
        milestone.next_check_at = work.now
    return await work.save(milestone)


async def _make(work: Work, workspace: Workspace, milestone: Milestone, move: DeliveryMove) -> None:
    made = MilestoneLifecycle.moves[move.verb]
    if milestone.status is made.to:
        return
    parts = (await deliverables_of(work, [milestone.id]))[milestone.id]
    if move.verb in _DECISIONS:
        await _decide(work, workspace, milestone, parts, move)
        return
    if move.verb == "waive":
        _check_waiver(milestone, move)
    missing = [one.key for one in parts if one.required and one.status not in _DELIVERED]
    if move.verb == "submit" and milestone.status is MilestoneStatus.IN_PROGRESS and missing:
        raise MilestoneIncomplete(deliverables=missing)
    made(milestone, at=work.now)
    _mark(work, milestone, move.reason)
    if move.verb == "start" and milestone.started_on is None:
        milestone.started_on = local_day(work.now)


async def _decide(
    work: Work,
    workspace: Workspace,
    milestone: Milestone,
    parts: Sequence[Deliverable],
    move: DeliveryMove,
) -> None:
    """The buyer accepted the milestone, wholly or in part, or rejected it."""
    MilestoneLifecycle.moves[move.verb](milestone, at=work.now)
    missing = [one.key for one in parts if one.status is not DeliverableStatus.ACCEPTED]
    required = {one.key for one in parts if one.required}
    if move.verb == "accept" and required.intersection(missing):
        raise MilestoneIncomplete(deliverables=[key for key in missing if key in required])
    if move.verb == "reject" and not move.reason:
        raise refusals.missing("/move/reason", "Say why the buyer rejected it.")
    confirmation = await workspaces.confirm(
        work,
        workspace.id,
        subject=("milestone", milestone.id, milestone.version),
        decision=move.verb,
        statement={
            "contractNumber": workspace.contract_number,
            "key": milestone.key,
            "title": milestone.title,
            "missing": missing,
        },
        proof=move.proof,
    )
    milestone.confirmation_id = confirmation.id
    _mark(work, milestone, move.reason)
    if move.verb == "reject":
        return
    _count_accepted(milestone, parts, missing)
    milestone.met_on = confirmation.confirmed_on
    await work.save(milestone)
    _publish_reached(work, milestone, confirmation)
    if milestone.practical_completion and milestone.status is MilestoneStatus.MET:
        await _complete_practically(work, workspace)


def _count_accepted(milestone: Milestone, parts: Sequence[Deliverable], missing: list[str]) -> None:
    """How much of the milestone can be invoiced: all, or the accepted weight (CON-11)."""
    if milestone.status is MilestoneStatus.MET:
        milestone.accepted_percent = milestone.percent_complete = _WHOLE
        milestone.missing, milestone.next_check_at = [], None
        return
    whole = sum((one.weight for one in parts), Decimal(0))
    accepted = sum((one.weight for one in parts if one.key not in missing), Decimal(0))
    if not accepted:
        raise RuleViolated(
            "No deliverable is accepted yet. Record the accepted deliverables first.", rule="CON-11"
        )
    milestone.accepted_percent = (_WHOLE * accepted / whole).quantize(Decimal("0.0001"))
    milestone.missing = missing


async def _complete_practically(work: Work, workspace: Workspace) -> None:
    """The work is in use once every milestone of practical completion is met (CON-17)."""
    counted = [one for one in await live_milestones(work, workspace.id) if _is_counted(one)]
    days = [one.met_on for one in counted if one.status is MilestoneStatus.MET and one.met_on]
    if len(days) == len(counted):
        workspace.practical_completion_on = max(days)
        workspace.next_check_at = work.now
        await work.save(workspace)


def _is_counted(milestone: Milestone) -> bool:
    return milestone.practical_completion and milestone.status is not MilestoneStatus.WAIVED


def _check_waiver(milestone: Milestone, move: DeliveryMove) -> None:
    """Only a milestone without money is waived; a variation moves its amount first."""
    if milestone.amount_minor or milestone.billed_minor:
        raise workspaces.NeedsVariation(
            "Move the amount of this milestone with a variation before you waive it.",
            fields=["valuePercent"],
        )
    if not move.reason:
        raise refusals.missing("/move/reason", "Say why the milestone is waived.")


def _publish_reached(work: Work, milestone: Milestone, confirmation: Confirmation) -> None:
    late = max(0, (confirmation.confirmed_on - milestone.due_on).days)
    work.publish(
        public.MilestoneReached(
            organization_id=milestone.organization_id,
            workspace_id=milestone.workspace_id,
            milestone_id=milestone.id,
            outcome=milestone.status.value,
            met_on=confirmation.confirmed_on,
            due_on=milestone.due_on,
            days_late=late,
            amount=Money(milestone.amount_minor, milestone.currency),
            strength=confirmation.strength,
        )
    )


def _mark(work: Work, milestone: Milestone, reason: str | None) -> None:
    milestone.status_reason = reason
    milestone.status_changed_at, milestone.status_changed_by = work.now, work.actor.id
