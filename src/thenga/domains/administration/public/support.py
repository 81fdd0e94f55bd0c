"""Support cases. Their events carry no text; the organization is the customer's."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from thenga.kernel.declare.event import Event

Priority = Literal["low", "normal", "high", "urgent"]
CaseStatus = Literal["new", "triaged", "resolved"]


class SupportCaseOpened(Event, type="administration.SupportCaseOpened.v1", subject="case_id"):
    """A customer, or staff on a customer's behalf, opened a case."""

    organization_id: UUID
    case_id: UUID
    number: str
    category: str
    status: CaseStatus
    priority: Priority
    requester_user_id: UUID
    assignee_user_id: UUID | None
    due_at: datetime


class SupportCaseUpdated(Event, type="administration.SupportCaseUpdated.v1", subject="case_id"):
    """A case was triaged, changed or reopened."""

    organization_id: UUID
    case_id: UUID
    number: str
    status: CaseStatus
    priority: Priority
    requester_user_id: UUID
    assignee_user_id: UUID | None
    due_at: datetime
    change: Literal["triaged", "changed", "reopened"]


class SupportCaseReplied(Event, type="administration.SupportCaseReplied.v1", subject="case_id"):
    """Somebody wrote a message; `status` is the case's after it."""

    organization_id: UUID
    case_id: UUID
    message_id: UUID
    number: str
    status: CaseStatus
    priority: Priority
    author_kind: Literal["customer", "staff"]
    author_user_id: UUID
    requester_user_id: UUID
    assignee_user_id: UUID | None
    due_at: datetime


class SupportCaseBreached(Event, type="administration.SupportCaseBreached.v1", subject="case_id"):
    """A case missed a target. Published once per target."""

    organization_id: UUID
    case_id: UUID
    number: str
    status: CaseStatus
    priority: Priority
    assignee_user_id: UUID | None
    target: Literal["first_response", "resolution"]
    due_at: datetime


class SupportCaseResolved(Event, type="administration.SupportCaseResolved.v1", subject="case_id"):
    """Staff resolved a case. A message of the customer reopens it."""

    organization_id: UUID
    case_id: UUID
    number: str
    priority: Priority
    code: str
    requester_user_id: UUID
    assignee_user_id: UUID | None


EVENTS = (
    SupportCaseOpened,
    SupportCaseUpdated,
    SupportCaseReplied,
    SupportCaseBreached,
    SupportCaseResolved,
)
