"""What is late: derived on reading, told once by a job (CON-12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from sqlalchemy import or_, select

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import MilestoneLifecycle, RiskLifecycle
from thenga.domains.contract.services.workspaces import carry_correlation
from thenga.domains.contract.tables import Milestone, MilestoneStatus, Risk, Workspace
from thenga.domains.contract.values import lateness
from thenga.domains.contract.values.lateness import Progress
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.values.calendar import add_working_days, local_day
from thenga.kernel.values.money import Money

CRITICAL_SCORE = 15
_WATCHED_DAYS = 10
_MOST_AT_RISK = 1000


@dataclass(frozen=True, slots=True)
class Lateness:
    """What a milestone shows of its lateness."""

    overdue: bool = False
    reasons: tuple[str, ...] = ()
    days_late: int = 0


async def lateness_of(read: Reader, milestones: Sequence[Milestone]) -> dict[UUID, Lateness]:
    """The lateness of milestones today, with one question for their risks."""
    extra = await configuration.value(read, EXTRA_HOLIDAYS)
    risky = await _with_critical_risk(read, milestones)
    today = local_day(read.now)
    found = {}
    for one in milestones:
        progress = _progress(one, has_critical_risk=one.id in risky)
        overdue = lateness.is_overdue(progress, today)
        reasons = lateness.reasons_of(progress, today, extra)
        found[one.id] = Lateness(overdue, tuple(reasons), _days_late(one, today, overdue=overdue))
    return found


async def milestones_at_risk(read: Reader) -> list[UUID]:
    """The milestones of the organization that are at risk today."""
    extra = await configuration.value(read, EXTRA_HOLIDAYS)
    horizon = add_working_days(local_day(read.now), _WATCHED_DAYS, extra)
    risky = select(Risk).where(Risk.score >= CRITICAL_SCORE)
    risky = risky.where(among(Risk.status, RiskLifecycle.LIVE))
    linked = {key for risk in await read.all(risky) for key in risk.milestone_ids}
    statement = (
        select(Milestone)
        .where(Milestone.status != MilestoneStatus.REMOVED)
        .where(
            or_(
                Milestone.forecast_on > Milestone.due_on,
                Milestone.due_on <= horizon,
                among(Milestone.id, list(linked)),
            )
        )
        .order_by(Milestone.due_on)
    )
    candidates = await read.all(statement, limit=_MOST_AT_RISK)
    found = await lateness_of(read, candidates)
    return [key for key, state in found.items() if state.reasons]


async def tell_milestone(work: Work, milestone_id: UUID) -> None:
    """Tell that a milestone is at risk, once for each reason that is added in a baseline."""
    milestone = await work.lock(Milestone, milestone_id)
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    if milestone.status in MilestoneLifecycle.DONE:
        milestone.next_check_at = None
        await work.save(milestone)
        return
    state = (await lateness_of(work, [milestone]))[milestone.id]
    reasons = {*state.reasons, *([lateness.OVERDUE] if state.overdue else [])}
    told = set(milestone.told_reasons) if milestone.told_plan == milestone.plan_number else set()
    milestone.next_check_at = lateness.next_check(milestone.due_on, work.now, extra)
    is_more = not reasons <= told
    if is_more:
        milestone.told_plan = milestone.plan_number
        milestone.told_reasons = sorted(reasons | told)
    await work.save(milestone)
    if is_more:
        carry_correlation(work, await work.get(Workspace, milestone.workspace_id))
        work.publish(
            public.MilestoneAtRisk(
                organization_id=milestone.organization_id,
                workspace_id=milestone.workspace_id,
                milestone_id=milestone.id,
                label=f"{milestone.key}: {milestone.title}",
                reasons=list(state.reasons),
                overdue=state.overdue,
                due_on=milestone.due_on,
                forecast_on=milestone.forecast_on,
                amount=Money(milestone.amount_minor, milestone.currency),
            )
        )


async def check_soon(work: Work, milestone_ids: Sequence[UUID]) -> None:
    """Something that milestones depend on changed, such as a risk: look at them again."""
    if not milestone_ids:
        return
    statement = select(Milestone).where(among(Milestone.id, milestone_ids))
    for found in await work.all(statement):
        milestone = await work.hold(found)
        milestone.next_check_at = work.now
        await work.save(milestone)


def _days_late(milestone: Milestone, today: date, *, overdue: bool) -> int:
    """Calendar days after the due date, by the day of acceptance and not of typing (CON-11)."""
    if milestone.met_on is not None and milestone.status is MilestoneStatus.MET:
        return max(0, (milestone.met_on - milestone.due_on).days)
    return (today - milestone.due_on).days if overdue else 0


def _progress(milestone: Milestone, *, has_critical_risk: bool) -> Progress:
    return Progress(
        due_on=milestone.due_on,
        duration_days=milestone.duration_days,
        calendar=milestone.calendar,
        percent_complete=milestone.percent_complete,
        forecast_on=milestone.forecast_on,
        is_done=milestone.status in MilestoneLifecycle.DONE,
        has_critical_risk=has_critical_risk,
    )


async def _with_critical_risk(read: Reader, milestones: Sequence[Milestone]) -> set[UUID]:
    """The milestones that an open risk of 15 or more names."""
    if not milestones:
        return set()
    workspace_ids = list({one.workspace_id for one in milestones})
    statement = (
        select(Risk)
        .where(among(Risk.workspace_id, workspace_ids))
        .where(Risk.score >= CRITICAL_SCORE)
        .where(among(Risk.status, RiskLifecycle.LIVE))
    )
    return {key for risk in await read.all(statement) for key in risk.milestone_ids}
