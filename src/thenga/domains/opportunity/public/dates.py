"""What Opportunity tells of deadlines, briefings and who attended them."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from thenga.domains.opportunity.public.notices import DeadlineKind, DeadlineState
from thenga.kernel.declare.event import Event

BriefingStatus = Literal["scheduled", "cancelled"]
AttendanceState = Literal["registered", "attended", "missed"]


class DeadlineApproaching(
    Event, type="opportunity.DeadlineApproaching.v1", subject="saved_opportunity_id"
):
    """A deadline of a saved tender is near. `threshold` is the span that was reached: `P3D`."""

    organization_id: UUID
    saved_opportunity_id: UUID
    tender_opportunity_id: UUID
    deadline_id: UUID
    kind: DeadlineKind
    due_at: datetime
    time_zone: str
    threshold: str
    label: str


class DeadlineChanged(Event, type="opportunity.DeadlineChanged.v1", subject="deadline_id"):
    """A deadline was set, moved or withdrawn. That of a shared tender has no tenant."""

    organization_id: UUID | None = None
    deadline_id: UUID
    tender_opportunity_id: UUID
    kind: DeadlineKind
    label: str
    due_at: datetime
    time_zone: str
    state: DeadlineState
    previous_due_at: datetime | None = None


class BriefingScheduled(Event, type="opportunity.BriefingScheduled.v1", subject="briefing_id"):
    """A briefing was scheduled, moved or cancelled. That of a shared tender has no tenant."""

    organization_id: UUID | None = None
    briefing_id: UUID
    tender_opportunity_id: UUID
    kind: Literal["meeting", "site_visit", "online"]
    starts_at: datetime
    time_zone: str
    compulsory: bool
    state: BriefingStatus
    previous_starts_at: datetime | None = None
    label: str


class AttendanceRecorded(Event, type="opportunity.AttendanceRecorded.v1", subject="attendance_id"):
    """A company recorded whether it attends or attended a briefing."""

    organization_id: UUID
    attendance_id: UUID
    briefing_id: UUID
    tender_opportunity_id: UUID
    starts_at: datetime
    compulsory: bool
    state: AttendanceState


EVENTS = (DeadlineApproaching, DeadlineChanged, BriefingScheduled, AttendanceRecorded)
