"""Performance, measured from facts."""

from datetime import date
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import delivery
from thenga.domains.contract.services.delivery import GivenPerformance, NothingMeasured, Period
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.services.workspaces import ContractOver
from thenga.domains.contract.tables import PerformanceBasis, PerformanceMetric, PerformanceSubject
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, Percent, lines, matching

router = make_router("Contract / Performance")

MetricId = Annotated[UUID, Path(alias="metricId", description="ID of the performance record.")]


class PeriodBody(Body):
    """First and last day."""

    since: Annotated[Day, Field(alias="from", description="First day.")]
    to: Annotated[Day, Field(description="Last day.")]


class JudgedBody(Body):
    """A score given by a person, shown next to the measured figures."""

    metric: Annotated[
        str, matching("^[a-z][a-z_]{1,39}$", 40), Field(description="Name of the score.")
    ]
    score: Annotated[Percent, Field(description="From 0 to 100.")]
    note: Annotated[
        Annotated[str, lines(1, 1000)] | None, Field(description="Reason for the score.")
    ] = None


class RecordPerformance(Body):
    """What to measure."""

    subject: Annotated[PerformanceSubject, Field(description="Your own work, or a package.")]
    coordination_id: Annotated[UUID | None, Field(description="Package to measure.")] = None
    period: Annotated[PeriodBody, Field(description="Period to measure.")]
    judged: Annotated[
        list[JudgedBody], Field(max_length=20, description="Scores given by a person.")
    ] = []
    corrects: Annotated[UUID | None, Field(description="Record that this one corrects.")] = None


class JudgedView(View):
    """A score given by a person."""

    metric: Annotated[str, Field(description="Name of the score.")]
    score: Annotated[Decimal, Field(description="From 0 to 100.")]
    note: Annotated[str | None, Field(description="Reason for the score.")]


class PerformanceCountsView(View):
    """Counts from which the figures are computed."""

    milestones: Annotated[int, Field(description="Milestones that were due.")]
    decided: Annotated[int, Field(description="Deliveries accepted or rejected.")]
    at_first_delivery: Annotated[int, Field(description="Accepted at first delivery.")]


class PerformancePeriodView(View):
    """First and last day."""

    since: Annotated[date, Field(alias="from", description="First day.")]
    to: Annotated[date, Field(description="Last day.")]


class ContractPerformanceView(Stored):
    """Performance in a period. Records never change; a correction is a new one."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract that was measured.")]
    subject: Annotated[PerformanceSubject, Field(description="Your own work, or a package.")]
    coordination_id: Annotated[UUID | None, Field(description="Package that was measured.")]
    supplier_id: Annotated[UUID | None, Field(description="Supplier of the package.")]
    period: Annotated[PerformancePeriodView, Field(description="Period that was measured.")]
    on_time: Annotated[Decimal | None, Field(description="From 0 to 100. Null if nothing was due.")]
    quality: Annotated[
        Decimal | None,
        Field(
            description="Share accepted at first delivery, 0 to 100. Null if nothing was decided."
        ),
    ]
    value: Annotated[
        Decimal | None, Field(description="Agreed price against final cost, 0 to 100.")
    ]
    counts: Annotated[PerformanceCountsView, Field(description="Counts behind the figures.")]
    judged: Annotated[list[JudgedView], Field(description="Scores given by a person.")]
    basis: Annotated[PerformanceBasis, Field(description="Measured, or also judged by a person.")]
    strength: Annotated[str, Field(description="Strength of proof behind it.")]
    corrects: Annotated[UUID | None, Field(description="Record that this one corrects.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/contracts/performance/{self.id}"

    @classmethod
    def of(cls, metric: PerformanceMetric) -> "ContractPerformanceView":
        counts = {
            "milestones": metric.counts["milestones"],
            "decided": metric.counts["decided"],
            "at_first_delivery": metric.counts["atFirstDelivery"],
        }
        more = {
            "period": {"since": metric.period_from, "to": metric.period_to},
            "counts": counts,
        }
        return cls.model_validate(metric.__dict__ | more)


@router.post(
    "/contracts/workspaces/{workspaceId}/performance",
    status_code=201,
    responses=problems(RuleViolated, NothingMeasured, Duplicate, ContractOver, ContractNotActive),
)
async def record_performance(
    workspace_id: WorkspaceId,
    body: RecordPerformance,
    work: Annotated[Work, writes(Permission.PERFORMANCE_RECORD)],
) -> ContractPerformanceView:
    """Measure performance from what was due and decided in a period.

    `onTime` loses 5 points for each working day late, by weight. `quality` is the share accepted
    at first delivery. `value` compares the agreed price of a package with its final cost. A figure
    that cannot be measured is null, never 100.
    """
    given = GivenPerformance(
        subject=body.subject.value,
        period=Period(body.period.since, body.period.to),
        coordination_id=body.coordination_id
        if body.subject is PerformanceSubject.PACKAGE
        else None,
        judged=tuple(one.model_dump(mode="json") for one in body.judged),
        corrects=body.corrects,
    )
    metric = await delivery.record_performance(work, workspace_id, given)
    return ContractPerformanceView.of(metric)


@router.get("/contracts/performance")
async def list_performance(
    read: Annotated[Reader, reads(Permission.PERFORMANCE_READ)],
    page: Annotated[Paged, paged("createdAt", "periodTo", default="-createdAt")],
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by contract.")
    ] = None,
    supplier_id: Annotated[
        UUID | None, Query(alias="supplierId", description="Filter by supplier.")
    ] = None,
    subject: Annotated[PerformanceSubject | None, Query(description="Filter by subject.")] = None,
) -> PageOf[ContractPerformanceView]:
    """List performance records, newest first."""
    found = await delivery.list_performance(
        read, page, workspace_id=workspace_id, supplier_id=supplier_id, subject=subject
    )
    return PageOf[ContractPerformanceView].of(found, ContractPerformanceView.of)


@router.get("/contracts/performance/{metricId}")
async def get_performance(
    metric_id: MetricId, read: Annotated[Reader, reads(Permission.PERFORMANCE_READ)]
) -> ContractPerformanceView:
    """Get a performance record."""
    return ContractPerformanceView.of(await read.get(PerformanceMetric, metric_id))
