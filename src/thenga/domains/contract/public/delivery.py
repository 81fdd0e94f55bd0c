"""What Contract tells of the plan and what is delivered."""

from datetime import date
from decimal import Decimal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money


class PlannedMilestone(BaseModel):
    """One milestone of a baseline: until when, and how much it is worth."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    milestone_id: UUID
    due_on: date
    amount: Money


class PerformancePeriod(BaseModel):
    """First and last day that a performance record is about."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    since: date = Field(validation_alias="from", serialization_alias="from")
    to: date


class DeliveryPlanBaselined(Event, type="contract.DeliveryPlanBaselined.v1", subject="plan_id"):
    """A plan is what delivery is measured against from now on."""

    organization_id: UUID
    workspace_id: UUID
    plan_id: UUID
    plan_number: int
    finish_on: date
    milestones: list[PlannedMilestone]


class MilestoneReached(Event, type="contract.MilestoneReached.v1", subject="milestone_id"):
    """The buyer accepted a milestone, wholly or in part."""

    organization_id: UUID
    workspace_id: UUID
    milestone_id: UUID
    outcome: str
    met_on: date
    due_on: date
    days_late: int
    amount: Money
    strength: str


class MilestoneAtRisk(Event, type="contract.MilestoneAtRisk.v1", subject="milestone_id"):
    """A milestone is late or will be; told again only when a reason is added."""

    organization_id: UUID
    workspace_id: UUID
    milestone_id: UUID
    label: str
    reasons: list[str]
    overdue: bool
    due_on: date
    forecast_on: date | None
    amount: Money


class DeliverableAccepted(Event, type="contract.DeliverableAccepted.v1", subject="deliverable_id"):
    """The buyer accepted a deliverable."""

    organization_id: UUID
    workspace_id: UUID
    deliverable_id: UUID
    milestone_id: UUID
    accepted_on: date
    rejections: int
    strength: str


class PerformanceRecorded(Event, type="contract.PerformanceRecorded.v1", subject="metric_id"):
    """Performance in a period, measured from facts; Supplier alone decides what follows."""

    organization_id: UUID
    workspace_id: UUID
    metric_id: UUID
    about: str = Field(validation_alias="subject", serialization_alias="subject")
    supplier_id: UUID | None
    coordination_id: UUID | None
    period: PerformancePeriod
    on_time: Decimal | None
    quality: Decimal | None
    value: Decimal | None
    count: int
    counterparty_ref: str
    value_band: str
    basis: str
    strength: str
    corrects: UUID | None


EVENTS = (
    DeliveryPlanBaselined,
    MilestoneReached,
    MilestoneAtRisk,
    DeliverableAccepted,
    PerformanceRecorded,
)
