"""What other domains may know of Funding: its events. It answers no port.

Every record of Funding belongs to one organization: partners have no account here yet, and the
operator's desk writes for them on behalf of the applicant.
"""

from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.setting import Acknowledged
from thenga.kernel.values.money import Money
from thenga.kernel.values.references import Reference


class _NeedEvent(Event):
    """What every event about a need carries.

    A need is `stale` when something it rests on has moved on since it was assessed.
    """

    organization_id: UUID
    need_id: UUID
    status: str
    source: str
    amount: Money | None
    needed_by: date | None
    stale: bool


class FundingNeedCaptured(_NeedEvent, type="funding.FundingNeedCaptured.v1", subject="need_id"):
    """A need was written by a person, or drafted from an overdue invoice."""


class FundingNeedChanged(_NeedEvent, type="funding.FundingNeedChanged.v1", subject="need_id"):
    """A need was opened, changed, resolved, withdrawn, funded, expired or became stale."""

    reason_code: str | None


class ScenarioGap(BaseModel):
    """How much money is missing at most if one thing goes otherwise."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    key: str
    peak_gap: Money


class WorkingCapitalAssessed(
    Event, type="funding.WorkingCapitalAssessed.v1", subject="assessment_id"
):
    """The cash of a plan was computed day by day; `peak_gap` is the most that is missing."""

    organization_id: UUID
    assessment_id: UUID
    need_id: UUID | None
    source: str
    as_of: date
    peak_gap: Money
    trough_on: date | None
    gap_days: int
    results: list[ScenarioGap]


class FundingRecommended(Event, type="funding.FundingRecommended.v1", subject="recommendation_id"):
    """Ways to cover a need were compared; not borrowing is always the first of them."""

    organization_id: UUID
    recommendation_id: UUID
    need_id: UUID
    assessment_id: UUID
    eligible: int
    cannot_say: int
    not_eligible: int
    lowest_cost: Money | None
    result_digest: str
    expires_at: datetime


class FundingApplicationChanged(
    Event, type="funding.FundingApplicationChanged.v1", subject="application_id"
):
    """An application was created, submitted, answered, accepted, paid out or ended.

    `occurred_on` is the day in the funder's paper, which may be earlier than the entry.
    `amount` is what was asked for, from an offer on its principal.
    """

    organization_id: UUID
    application_id: UUID
    need_id: UUID
    label: str
    status: str
    previous_status: str | None
    change: str
    occurred_on: date
    submitted_on: date | None
    partner_id: UUID
    product_code: str
    offer_id: UUID | None
    amount: Money
    disbursed: Money | None
    invoice_ids: list[UUID]
    reason_code: str | None


class _RiskEvent(Event):
    """What every event about a risk of the cash flow carries."""

    organization_id: UUID
    risk_id: UUID
    label: str
    category: str
    level: str
    score: int
    expected_loss: Money
    due_on: date | None
    about: Annotated[
        Reference | None, Field(validation_alias="subject", serialization_alias="subject")
    ]
    status: str


class CashFlowRiskRaised(_RiskEvent, type="funding.CashFlowRiskRaised.v1", subject="risk_id"):
    """A risk of the cash flow was raised by a person, or by an event of a contract."""


class CashFlowRiskChanged(_RiskEvent, type="funding.CashFlowRiskChanged.v1", subject="risk_id"):
    """A risk was assessed again, mitigated, materialised or closed."""


class RepaymentScheduleChanged(
    Event, type="funding.RepaymentScheduleChanged.v1", subject="schedule_id"
):
    """A repayment plan was drafted, activated or completed."""

    organization_id: UUID
    schedule_id: UUID
    application_id: UUID
    status: str
    principal: Money


class RepaymentRecorded(Event, type="funding.RepaymentRecorded.v1", subject="repayment_id"):
    """A repayment was recorded; it settles the oldest entries of its plan first."""

    organization_id: UUID
    repayment_id: UUID
    schedule_id: UUID
    application_id: UUID
    amount: Money
    received_on: date
    status: str
    outstanding: Money


class _EntryEvent(Event):
    """What every event about one entry of a repayment plan carries."""

    organization_id: UUID
    application_id: UUID
    schedule_id: UUID
    entry_id: UUID
    label: str
    payable_on: date
    amount: Money
    outstanding: Money


class RepaymentDue(_EntryEvent, type="funding.RepaymentDue.v1", subject="entry_id"):
    """An entry is payable in `days_left` days."""

    days_left: int


class RepaymentOverdue(_EntryEvent, type="funding.RepaymentOverdue.v1", subject="entry_id"):
    """An entry was not paid in time."""

    days_late: int


class PolicyAcknowledged(Acknowledged, type="funding.PolicyAcknowledged.v1", subject="config_id"):
    """Funding applied or refused a published setting or policy."""


EVENTS = (
    FundingNeedCaptured,
    FundingNeedChanged,
    WorkingCapitalAssessed,
    FundingRecommended,
    FundingApplicationChanged,
    CashFlowRiskRaised,
    CashFlowRiskChanged,
    RepaymentScheduleChanged,
    RepaymentRecorded,
    RepaymentDue,
    RepaymentOverdue,
    PolicyAcknowledged,
)
