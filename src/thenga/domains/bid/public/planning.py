"""What Bid tells of plans, tasks and comments."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event

TaskStatus = Literal["todo", "in_progress", "in_review", "done", "cancelled"]
CommentStatus = Literal["open", "resolved"]
CommentSubject = Literal["workspace", "task", "section", "form", "item", "finding"]


class PlannedMilestone(BaseModel):
    """A milestone of a plan and the time by which it is met."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    key: str
    due_at: datetime


class BidPlanBaselined(Event, type="bid.BidPlanBaselined.v1", subject="plan_id"):
    """A plan of a bid is in force."""

    organization_id: UUID
    plan_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    revision: int
    milestones: list[PlannedMilestone]


class BidTaskAssigned(Event, type="bid.BidTaskAssigned.v1", subject="task_id"):
    """A task of a bid has an owner, or another one."""

    organization_id: UUID
    task_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    owner_user_id: UUID | None
    status: TaskStatus
    due_at: datetime | None


class BidTaskChanged(Event, type="bid.BidTaskChanged.v1", subject="task_id"):
    """A task of a bid was moved, blocked or changed."""

    organization_id: UUID
    task_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    owner_user_id: UUID | None
    status: TaskStatus
    blocked: bool
    due_at: datetime | None


class BidTaskOverdue(Event, type="bid.BidTaskOverdue.v1", subject="task_id"):
    """A task of a bid is open after its due time; told once for each due time."""

    organization_id: UUID
    task_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    owner_user_id: UUID | None
    status: TaskStatus
    due_at: datetime


class BidCommentAdded(Event, type="bid.BidCommentAdded.v1", subject="comment_id"):
    """Somebody commented on a bid; the text is read where it is."""

    organization_id: UUID
    comment_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    subject_type: CommentSubject
    subject_id: str | None
    mentions: list[UUID]
    status: CommentStatus


class BidCommentChanged(Event, type="bid.BidCommentChanged.v1", subject="comment_id"):
    """A comment was edited, resolved, reopened or deleted."""

    organization_id: UUID
    comment_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    subject_type: CommentSubject
    subject_id: str | None
    mentions: list[UUID]
    status: CommentStatus


EVENTS = (
    BidPlanBaselined,
    BidTaskAssigned,
    BidTaskChanged,
    BidTaskOverdue,
    BidCommentAdded,
    BidCommentChanged,
)
