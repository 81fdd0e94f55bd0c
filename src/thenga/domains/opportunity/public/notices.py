"""What Opportunity tells of a tender: published, opened, amended, closed, awarded.

A shared tender belongs to everybody: its events have no tenant and `organization_id` is null.
Events of a private capture go to its keeper alone.
"""

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money

VALUE = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

Day = date
Visibility = Literal["private", "shared"]
Level = Literal["critical", "material", "minor"]
Origin = Literal["source_diff", "buyer", "correction"]
Closed = Literal["closing_time", "cancelled", "withdrawn", "unsuccessful", "superseded"]
TenderStatus = Literal[
    "draft",
    "planned",
    "open",
    "closed",
    "cancelled",
    "withdrawn",
    "unsuccessful",
    "awarded",
    "superseded",
]
DeadlineKind = Literal[
    "closing",
    "clarification",
    "briefing",
    "site_visit",
    "validity_end",
    "award_expected",
    "document_fee",
    "own",
]
DeadlineState = Literal["upcoming", "passed", "withdrawn"]


class ToldDeadline(BaseModel):
    """A date of the tender by which something must be done."""

    model_config = VALUE

    deadline_id: UUID
    kind: DeadlineKind
    due_at: datetime
    time_zone: str
    state: DeadlineState


class ToldAward(BaseModel):
    """An award as it was published, without the name of the supplier."""

    model_config = VALUE

    award_id: str
    date: Day | None = None
    value: Money | None = None


class AmendedPath(BaseModel):
    """One field that an amendment changed."""

    model_config = VALUE

    path: str
    kind: Literal["added", "removed", "changed"]
    level: Level


class TenderOpportunityPublished(
    Event,
    type="opportunity.TenderOpportunityPublished.v1",
    subject="tender_opportunity_id",
):
    """A tender was published and is planned or open.

    `backfilled` if it was read from the past of a source: nobody is alerted.
    """

    organization_id: UUID | None = None
    tender_opportunity_id: UUID
    ocid: str | None
    visibility: Visibility
    status: TenderStatus
    label: str
    tender_number: str
    buyer_name: str
    provinces: list[str]
    closing_at: datetime | None
    time_zone: str
    requirement_set_version: int
    deadlines: list[ToldDeadline]
    backfilled: bool = False


class TenderOpportunityOpened(
    Event, type="opportunity.TenderOpportunityOpened.v1", subject="tender_opportunity_id"
):
    """A planned tender takes bids from now on."""

    organization_id: UUID | None = None
    tender_opportunity_id: UUID
    ocid: str | None
    visibility: Visibility
    status: TenderStatus
    label: str
    tender_number: str
    buyer_name: str
    provinces: list[str]
    closing_at: datetime | None
    time_zone: str
    requirement_set_version: int
    deadlines: list[ToldDeadline]


class TenderOpportunityAmended(
    Event, type="opportunity.TenderOpportunityAmended.v1", subject="tender_opportunity_id"
):
    """A published tender changed. `changes` names at most 50 fields, the weightiest first."""

    organization_id: UUID | None = None
    tender_opportunity_id: UUID
    ocid: str | None
    visibility: Visibility
    status: TenderStatus
    label: str
    tender_number: str
    buyer_name: str
    provinces: list[str]
    closing_at: datetime | None
    time_zone: str
    requirement_set_version: int
    deadlines: list[ToldDeadline]
    amendment_number: int
    material: bool
    level: Level
    short_notice: bool
    origin: Origin
    changes: list[AmendedPath]
    previous_closing_at: datetime | None
    reopened: bool


class TenderOpportunityClosed(
    Event, type="opportunity.TenderOpportunityClosed.v1", subject="tender_opportunity_id"
):
    """A tender takes no more bids, and why; `superseded_by` names the tender that replaces it."""

    organization_id: UUID | None = None
    tender_opportunity_id: UUID
    ocid: str | None
    visibility: Visibility
    status: TenderStatus
    label: str
    tender_number: str
    buyer_name: str
    closing_at: datetime | None
    time_zone: str
    reason: Closed
    superseded_by: UUID | None = None


class TenderOpportunityAwarded(
    Event, type="opportunity.TenderOpportunityAwarded.v1", subject="tender_opportunity_id"
):
    """The buyer published who was chosen. Whether a company won is told by Bid."""

    organization_id: UUID | None = None
    tender_opportunity_id: UUID
    ocid: str | None
    visibility: Visibility
    status: TenderStatus
    label: str
    tender_number: str
    buyer_name: str
    closing_at: datetime | None
    time_zone: str
    awards: list[ToldAward]


EVENTS = (
    TenderOpportunityPublished,
    TenderOpportunityOpened,
    TenderOpportunityAmended,
    TenderOpportunityClosed,
    TenderOpportunityAwarded,
)
