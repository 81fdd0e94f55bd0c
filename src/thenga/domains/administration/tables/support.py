"""Support cases and their messages, seen by the customer and by staff."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa

from thenga.domains.administration.public.support import Priority
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import BetweenRow, Col, Json, col

Impact = Literal["one_person", "team", "organization", "many_organizations"]
Urgency = Literal["low", "medium", "high"]


class SupportCaseStatus(StrEnum):
    """Status of a support case."""

    NEW = "new"
    TRIAGED = "triaged"
    RESOLVED = "resolved"


class CaseCategory(StrEnum):
    """What a case is about."""

    ACCESS = "access"
    BILLING = "billing"
    BIDDING = "bidding"
    COMPLIANCE_DOCUMENTS = "compliance_documents"
    DATA_CORRECTION = "data_correction"
    INTEGRATION = "integration"
    PERFORMANCE = "performance"
    SECURITY = "security"
    OTHER = "other"


class ResolutionCode(StrEnum):
    """How a case was resolved."""

    FIXED = "fixed"
    ANSWERED = "answered"
    CONFIGURATION = "configuration"
    KNOWN_ISSUE = "known_issue"
    DUPLICATE = "duplicate"
    SPAM = "spam"
    NO_ANSWER = "no_answer"


class AuthorKind(StrEnum):
    """The side that wrote a message."""

    CUSTOMER = "customer"
    STAFF = "staff"


class SupportCase(BetweenRow, table="administration.support_case", kind=Kind.BETWEEN):
    """A customer's case. The counterparty is the operator of the platform."""

    number: Col[str]
    subject: Col[str]
    description: Col[str]
    category: Col[CaseCategory]
    impact: Col[Impact]
    urgency: Col[Urgency]
    links: Col[list[dict[str, Any]]] = col(Json, default=[])
    requester_user_id: Col[UUID]
    channel: Col[str] = col(default="web")
    priority: Col[Priority]
    priority_reason: Col[str | None]
    assignee_user_id: Col[UUID | None]
    predecessor_case_id: Col[UUID | None]
    status: Col[SupportCaseStatus] = col(default=SupportCaseStatus.NEW)
    clock_from: Col[datetime]  # opened, or last reopened
    response_due_at: Col[datetime]
    responded_at: Col[datetime | None]
    response_breached_at: Col[datetime | None]
    due_at: Col[datetime]
    due_breached_at: Col[datetime | None]
    resolved_at: Col[datetime | None]
    reopens_until: Col[datetime | None]
    resolved_by: Col[UUID | None]
    resolution_code: Col[str | None]
    resolution_text: Col[str | None]
    reopen_count: Col[int] = col(sa.Integer, default=0)
    next_check_at: Col[datetime | None]


class SupportMessage(BetweenRow, table="administration.support_message", kind=Kind.BETWEEN):
    """A message of either side. It never changes."""

    case_id: Col[UUID]
    author_kind: Col[AuthorKind]
    author_user_id: Col[UUID]
    body: Col[str]
