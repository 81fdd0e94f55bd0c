"""What Bid tells of plans, tasks and comments."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.domains.bid.public.of_bids import OfBid

TaskStatus = Literal["todo", "in_progress", "in_review", "done", "cancelled"]
CommentStatus = Literal["open", "resolved"]
CommentSubject = Literal["workspace", "task", "section", "form", "item", "finding"]


class PlannedMilestone(BaseModel):
    """A milestone of a plan and the time by which it is met."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    key: str
    due_at: datetime


class BidPlanBaselined(OfBid, type="bid.BidPlanBaselined.v1", subject="plan_id"):
    """A plan of a bid is in force."""

    plan_id: UUID
    revision: int
    milestones: list[PlannedMilestone]


class BidTaskAssigned(OfBid, type="bid.BidTaskAssigned.v1", subject="task_id"):
    """A task of a bid has an owner, or another one."""

    task_id: UUID
    owner_user_id: UUID | None
    status: TaskStatus
    due_at: datetime | None


class BidTaskChanged(OfBid, type="bid.BidTaskChanged.v1", subject="task_id"):
    """A task of a bid was moved, blocked or changed."""

    task_id: UUID
    owner_user_id: UUID | None
    status: TaskStatus
    blocked: bool
    due_at: datetime | None


class BidTaskOverdue(OfBid, type="bid.BidTaskOverdue.v1", subject="task_id"):
    """A task of a bid is open after its due time; told once for each due time."""

    task_id: UUID
    owner_user_id: UUID | None
    status: TaskStatus
    due_at: datetime


class BidCommentAdded(OfBid, type="bid.BidCommentAdded.v1", subject="comment_id"):
    """Somebody commented on a bid; the text is read where it is."""

    comment_id: UUID
    subject_type: CommentSubject
    subject_id: str | None
    mentions: list[UUID]
    status: CommentStatus


class BidCommentChanged(OfBid, type="bid.BidCommentChanged.v1", subject="comment_id"):
    """A comment was edited, resolved, reopened or deleted."""

    comment_id: UUID
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
