"""Performance of ourselves and of packages, measured from what was due and decided (CON-37)."""

import hashlib
from collections.abc import Set
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.contract import public
from thenga.domains.contract.services import workspaces
from thenga.domains.contract.services.delivery.scheduling import deliverables_of, live_milestones
from thenga.domains.contract.tables import (
    Coordination,
    Deliverable,
    Milestone,
    MilestoneStatus,
    PerformanceBasis,
    PerformanceMetric,
    PerformanceSubject,
    Workspace,
)
from thenga.domains.contract.values import measures
from thenga.domains.contract.values.measures import Timed
from thenga.domains.contract.values.packages import PackageMilestone, package_of_rows
from thenga.domains.contract.values.refusals import invalid
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.errors import Duplicate, Problem
from thenga.kernel.values.calendar import local_day, working_days_between

_BY: dict[str, ColumnElement[Any]] = {
    "createdAt": PerformanceMetric.created_at,
    "periodTo": PerformanceMetric.period_to,
}


class NothingMeasured(Problem):
    """No milestone was due and no delivery was decided in this period.

    Choose a period in which a milestone was due. A missing figure never counts as 100.
    """

    code, status, title = "contract-nothing-measured", 422, "There is nothing to measure"


@dataclass(frozen=True, slots=True)
class Period:
    """First and last day."""

    since: date
    until: date


@dataclass(frozen=True, slots=True)
class GivenPerformance:
    """What a person asks to be measured, and what they judge beside it."""

    subject: str
    period: Period
    coordination_id: UUID | None = None
    judged: tuple[dict[str, Any], ...] = ()
    corrects: UUID | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a period, and how much they rest on."""

    on_time: Decimal | None
    quality: Decimal | None
    value: Decimal | None
    milestones: int
    decided: int
    at_first_delivery: int

    @property
    def counts(self) -> dict[str, int]:
        return {
            "milestones": self.milestones,
            "decided": self.decided,
            "atFirstDelivery": self.at_first_delivery,
        }


async def record_performance(
    work: Work, workspace_id: UUID, given: GivenPerformance
) -> PerformanceMetric:
    """Measure a period and tell the figures; a correction is a new record."""
    _check_period(given.period)
    workspace = await workspaces.active_workspace_for(work, workspace_id)
    package = await _package(work, workspace, given)
    await _refuse_second(work, workspace_id, given)
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    if package is None:
        measured = await _measure_own(work, workspace, given.period, extra)
    else:
        measured = _measure_package(package, given.period, local_day(work.now), extra)
    if measured.on_time is None and measured.quality is None:
        raise NothingMeasured()
    metric = await work.add(
        PerformanceMetric(
            organization_id=workspace.organization_id,
            workspace_id=workspace.id,
            subject=PerformanceSubject(given.subject),
            coordination_id=given.coordination_id,
            supplier_id=None if package is None else package.supplier_id,
            period_from=given.period.since,
            period_to=given.period.until,
            judged=list(given.judged),
            corrects=given.corrects,
            on_time=measured.on_time,
            quality=measured.quality,
            value=measured.value,
            counts=measured.counts,
            basis=PerformanceBasis.MIXED if given.judged else PerformanceBasis.MEASURED,
            strength="document",
            recorded_by=work.actor.id,
        )
    )
    _publish(work, workspace, metric, measured, package)
    return metric


async def list_performance(
    read: Reader,
    paged: Paged,
    *,
    workspace_id: UUID | None,
    supplier_id: UUID | None,
    subject: str | None,
) -> Slice[PerformanceMetric]:
    """Performance records."""
    statement = where_given(
        select(PerformanceMetric),
        (PerformanceMetric.workspace_id, workspace_id),
        (PerformanceMetric.supplier_id, supplier_id),
        (PerformanceMetric.subject, subject),
    )
    return await read.page(statement, paged, by=_BY[paged.sort])


async def _package(
    read: Reader, workspace: Workspace, given: GivenPerformance
) -> Coordination | None:
    if given.subject == "own":
        return None
    found = None
    if given.coordination_id is not None:
        found = await read.find(Coordination, id=given.coordination_id)
    if found is None or found.workspace_id != workspace.id or found.kind != "package":
        raise invalid("/coordinationId", "Choose a package of this contract.")
    return found


async def _refuse_second(read: Reader, workspace_id: UUID, given: GivenPerformance) -> None:
    """One record for each subject and end of a period; others name the one they correct."""
    statement = (
        select(PerformanceMetric)
        .where(PerformanceMetric.workspace_id == workspace_id)
        .where(PerformanceMetric.subject == given.subject)
        .where(PerformanceMetric.coordination_id.is_not_distinct_from(given.coordination_id))
    )
    records = await read.all(statement)
    if given.corrects is not None:
        if given.corrects not in {one.id for one in records}:
            raise invalid("/corrects", "Choose a performance record of the same subject.")
        return
    for one in records:
        if one.period_to == given.period.until:
            raise Duplicate(existing={"id": str(one.id)})


async def _measure_own(
    read: Reader, workspace: Workspace, period: Period, extra: Set[date]
) -> Measured:
    today = local_day(read.now)
    milestones = await live_milestones(read, workspace.id)
    due = [one for one in milestones if _is_due(one, period, today)]
    timed = [Timed(one.value_percent, _late(one.due_on, one.met_on or today, extra)) for one in due]
    parts = (await deliverables_of(read, [one.id for one in milestones])).values()
    decided = [one for group in parts for one in group if _is_decided(one, period)]
    first = [one for one in decided if one.accepted_on is not None and not one.rejections]
    return Measured(
        on_time=measures.on_time(timed),
        quality=measures.quality(decided=len(decided), at_first_delivery=len(first)),
        value=None,
        milestones=len(due),
        decided=len(decided),
        at_first_delivery=len(first),
    )


def _measure_package(
    package: Coordination, period: Period, today: date, extra: Set[date]
) -> Measured:
    milestones = package_of_rows(package.package_milestones)
    due = [
        one
        for one in milestones
        if period.since <= one.due_on <= period.until and (one.accepted_on or one.due_on <= today)
    ]
    timed = [Timed(one.percent, _late(one.due_on, one.accepted_on or today, extra)) for one in due]
    decided = [one for one in due if _was_decided(one)]
    first = [one for one in decided if one.accepted_on is not None and not one.rejections]
    return Measured(
        on_time=measures.on_time(timed),
        quality=measures.quality(decided=len(decided), at_first_delivery=len(first)),
        value=measures.value_kept(
            agreed_minor=package.value_minor, final_cost_minor=package.final_cost_minor
        ),
        milestones=len(due),
        decided=len(decided),
        at_first_delivery=len(first),
    )


def _is_due(milestone: Milestone, period: Period, today: date) -> bool:
    if milestone.status is MilestoneStatus.WAIVED:
        return False
    is_in = period.since <= milestone.due_on <= period.until
    return is_in and (milestone.met_on is not None or milestone.due_on <= today)


def _is_decided(deliverable: Deliverable, period: Period) -> bool:
    """Accepted in the period, or rejected in it and not accepted since."""
    if deliverable.accepted_on is not None:
        return period.since <= deliverable.accepted_on <= period.until
    if not deliverable.rejections or deliverable.status_changed_at is None:
        return False
    return period.since <= local_day(deliverable.status_changed_at) <= period.until


def _was_decided(milestone: PackageMilestone) -> bool:
    return milestone.accepted_on is not None or milestone.rejections > 0


def _late(due_on: date, done_on: date, extra: Set[date]) -> int:
    return working_days_between(due_on, done_on, extra) if done_on > due_on else 0


def _publish(
    work: Work,
    workspace: Workspace,
    metric: PerformanceMetric,
    measured: Measured,
    package: Coordination | None,
) -> None:
    size = workspace.current_value_minor if package is None else package.value_minor or 0
    work.publish(
        public.PerformanceRecorded(
            organization_id=metric.organization_id,
            workspace_id=workspace.id,
            metric_id=metric.id,
            about=metric.subject.value,
            supplier_id=metric.supplier_id,
            coordination_id=metric.coordination_id,
            period=public.PerformancePeriod(since=metric.period_from, to=metric.period_to),
            on_time=metric.on_time,
            quality=metric.quality,
            value=metric.value,
            count=measured.milestones + measured.decided,
            counterparty_ref=hashlib.sha256(workspace.counterparty_key.encode()).hexdigest(),
            value_band=measures.value_band(size),
            basis=metric.basis.value,
            strength=metric.strength,
            corrects=metric.corrects,
        )
    )


def _check_period(period: Period) -> None:
    if period.until < period.since:
        raise invalid("/period/to", "`to` must be on or after `from`.")
