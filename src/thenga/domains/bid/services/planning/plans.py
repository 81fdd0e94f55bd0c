"""Plans: revisions of milestones, counted backwards from the closing (BID-7)."""

from dataclasses import dataclass
from datetime import datetime, time
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import PlanLifecycle, TaskLifecycle
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.planning.schedule import STANDARD, due_before
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import (
    Plan,
    PlanStatus,
    Task,
    TenderRef,
    Workspace,
    WorkspaceStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.errors import NotFound, Problem, RuleViolated, extensions

MOST_MILESTONES = 30
OF_TENDER = {"clarification": "Last day for questions", "briefing": "Briefing"}
_ALWAYS = frozenset((WorkspaceStatus.SUBMITTED, WorkspaceStatus.AWARDED))
_MET_BY_STATUS = {
    "pack_sealed": _ALWAYS | {WorkspaceStatus.READY},
    "delivered": _ALWAYS,
}


class BidMilestoneAfterClosing(Problem):
    """Move the milestones in `keys` to the closing time or earlier."""

    code, status, title = "bid-milestone-after-closing", 422, "A milestone is after closing"
    members = extensions(keys=(list[str], "Keys of the milestones that are too late."))


@dataclass(frozen=True, slots=True)
class Milestone:
    """A milestone as it is shown."""

    key: str
    title: str
    days_before: int | None
    due_at: datetime
    owner_user_id: UUID | None
    source: Literal["own", "tender"]
    state: Literal["upcoming", "late", "met"]


async def make_plan(
    work: Work,
    workspace_id: UUID,
    *,
    milestones: dict[str, dict[str, Any]] | None,
    due_time: str,
    baseline: bool,
) -> Plan:
    """A new revision; without milestones the standard template. An older draft is superseded."""
    workspace = await workspaces.workspace_for(work, workspace_id, Need.EDIT)
    tender = await workspaces.stored_tender(work, workspace)
    if milestones is not None:
        owners = [one.get("owner_user_id") for one in milestones.values()]
        await workspaces.check_assignees(work, workspace, owners)
    plan = await draft_plan(work, workspace, tender, milestones=milestones, due_time=due_time)
    if baseline:
        await _baseline(work, workspace, plan)
    return plan


async def draft_plan(
    work: Work,
    workspace: Workspace,
    tender: TenderRef | None,
    *,
    milestones: dict[str, dict[str, Any]] | None = None,
    due_time: str = "16:00",
) -> Plan:
    """Add a draft counted from the tender's closing; dates of the tender join it."""
    if tender is None or tender.closing_at is None:
        raise RuleViolated("The tender has no closing time to plan from.", rule="BID-7")
    planned = await _planned(work, tender, milestones, due_time)
    newest = await _newest(work, workspace.id)
    if newest is not None and newest.status is PlanStatus.DRAFT:
        await _supersede(work, newest)
    return await work.add(
        Plan(
            organization_id=work.organization_id,
            workspace_id=workspace.id,
            revision=1 if newest is None else newest.revision + 1,
            due_time=due_time,
            milestones=planned,
            closing_at=tender.closing_at,
        )
    )


async def _planned(
    work: Work, tender: TenderRef, given: dict[str, dict[str, Any]] | None, due_time: str
) -> dict[str, Any]:
    if given is None:
        given = {
            key: {"title": title, "days_before": days} for key, (title, days) in STANDARD.items()
        }
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    clock = time.fromisoformat(due_time)
    made: dict[str, Any] = {}
    for key, one in given.items():
        due_at, days = one.get("due_at"), one.get("days_before")
        if due_at is None and days is not None:
            due_at = due_before(
                _closing(tender), days, due_time=clock, zone=tender.time_zone, extra=extra
            )
        owner = one.get("owner_user_id")
        made[key] = _entry(one["title"], due_at, days, owner, "own")
    late = [key for key, one in made.items() if _instant(one["dueAt"]) > _closing(tender)]
    if late:
        raise BidMilestoneAfterClosing(keys=sorted(late))
    return _dates_of_tender(tender) | made


def _dates_of_tender(tender: TenderRef) -> dict[str, Any]:
    """Questions and briefings of the tender, the first of each, before the closing."""
    found: dict[str, datetime] = {}
    for deadline in tender.terms.get("deadlines", []):
        if deadline["kind"] == "clarification" and deadline["state"] != "withdrawn":
            found.setdefault("clarification", _instant(deadline["due_at"]))
    for briefing in sorted(tender.terms.get("briefings", []), key=lambda one: str(one["at"])):
        found.setdefault("briefing", _instant(briefing["at"]))
    return {
        key: _entry(OF_TENDER[key], due_at, None, None, "tender")
        for key, due_at in found.items()
        if due_at <= _closing(tender)
    }


def _entry(
    title: str, due_at: datetime | None, days: int | None, owner: UUID | None, source: str
) -> dict[str, Any]:
    if due_at is None:
        raise RuleViolated("Send `daysBefore` or `dueAt`.", rule="BID-7", field="milestones")
    return {
        "title": title,
        "daysBefore": days,
        "dueAt": due_at.isoformat(),
        "ownerUserId": None if owner is None else str(owner),
        "source": source,
    }


def _closing(tender: TenderRef) -> datetime:
    if tender.closing_at is None:
        raise LookupError("a plan is counted from a closing")
    return tender.closing_at


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def _baseline(work: Work, workspace: Workspace, plan: Plan) -> None:
    """Put a plan in force; the one before it is superseded."""
    statement = select(Plan).where(
        Plan.workspace_id == workspace.id, Plan.status == PlanStatus.BASELINED
    )
    for older in await work.all(statement):
        await _supersede(work, older)
    held = await work.hold(plan)
    PlanLifecycle.baseline(held, at=work.now)
    held.baselined_at, held.baselined_by = work.now, workspaces.person_of(work)
    await work.save(held)
    work.publish(
        public.BidPlanBaselined(
            **workspaces.told_of(workspace),
            plan_id=plan.id,
            revision=plan.revision,
            milestones=[
                public.PlannedMilestone(key=key, due_at=_instant(one["dueAt"]))
                for key, one in plan.milestones.items()
            ],
        )
    )


async def _supersede(work: Work, plan: Plan) -> None:
    held = await work.hold(plan)
    if PlanLifecycle.supersede(held, at=work.now):
        await work.save(held)


async def current_plan(read: Reader, workspace_id: UUID) -> Plan | None:
    """The newest revision."""
    return await _newest(read, workspace_id)


async def get_plan(read: Reader, workspace_id: UUID) -> Plan:
    """The newest revision, or 404."""
    plan = await _newest(read, workspace_id)
    if plan is None:
        raise NotFound()
    return plan


async def _newest(read: Reader, workspace_id: UUID) -> Plan | None:
    statement = select(Plan).where(Plan.workspace_id == workspace_id)
    found = await read.all(statement.order_by(Plan.revision.desc()), limit=1)
    return next(iter(found), None)


async def milestones_of(read: Reader, workspace: Workspace, plan: Plan) -> list[Milestone]:
    """The milestones with their state, the earliest first."""
    ended = await _ended_milestones(read, workspace.id)
    shown = []
    for key, one in plan.milestones.items():
        due_at = _instant(one["dueAt"])
        met = key in ended or workspace.status in _MET_BY_STATUS.get(key, ())
        owner = one["ownerUserId"]
        shown.append(
            Milestone(
                key=key,
                title=one["title"],
                days_before=one["daysBefore"],
                due_at=due_at,
                owner_user_id=None if owner is None else UUID(owner),
                source=one["source"],
                state="met" if met else "late" if due_at < read.now else "upcoming",
            )
        )
    return sorted(shown, key=lambda one: (one.due_at, one.key))


async def _ended_milestones(read: Reader, workspace_id: UUID) -> set[str]:
    """Milestones that have tasks, all of which are done or cancelled."""
    open_ones = func.count().filter(among(Task.status, tuple(sorted(TaskLifecycle.OPEN))))
    statement = (
        select(Task.milestone_key)
        .where(
            Task.organization_id == read.organization_id,
            Task.workspace_id == workspace_id,
            Task.milestone_key.is_not(None),
        )
        .group_by(Task.milestone_key)
        .having(open_ones == 0)
    )
    return {key for key in await read.values(statement, limit=MOST_MILESTONES) if key}
