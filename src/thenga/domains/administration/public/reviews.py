"""Audit reviews with their findings, and governance decisions."""

from datetime import date
from typing import Literal
from uuid import UUID

from thenga.kernel.declare.event import Event

Severity = Literal["low", "medium", "high", "critical"]


class AuditReviewOpened(Event, type="administration.AuditReviewOpened.v1", subject="review_id"):
    """An audit review was opened."""

    review_id: UUID
    number: str
    kind: Literal["periodic", "triggered", "break_glass", "incident"]
    due_on: date
    reviewer_user_ids: list[UUID]


class AuditFindingRecorded(
    Event, type="administration.AuditFindingRecorded.v1", subject="finding_id"
):
    """A finding was recorded or its status changed."""

    finding_id: UUID
    review_id: UUID
    severity: Severity
    status: Literal["open", "closed"]
    owner_user_id: UUID
    due_on: date


class AuditReviewClosed(Event, type="administration.AuditReviewClosed.v1", subject="review_id"):
    """An audit review was closed by somebody other than its reviewer."""

    review_id: UUID
    number: str
    findings: int


class GovernanceDecisionRecorded(
    Event, type="administration.GovernanceDecisionRecorded.v1", subject="decision_id"
):
    """A governance decision was recorded; it may supersede an earlier one."""

    decision_id: UUID
    number: str
    category: str
    status: Literal["recorded", "superseded"]
    supersedes: UUID | None
    content_hash: str


EVENTS = (AuditReviewOpened, AuditFindingRecorded, AuditReviewClosed, GovernanceDecisionRecorded)
