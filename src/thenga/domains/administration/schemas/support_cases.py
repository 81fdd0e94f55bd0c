"""Bodies and filters of support cases and their messages."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Path
from pydantic import MISSING, Field
from sqlalchemy import ColumnElement
from sqlalchemy.dialects.postgresql import JSONB

from thenga.domains.administration.public.support import Priority
from thenga.domains.administration.schemas.reasons import OptionalReason, Reason
from thenga.domains.administration.schemas.references import ReferenceBody
from thenga.domains.administration.tables import (
    CaseCategory,
    Impact,
    ResolutionCode,
    SupportCase,
    SupportCaseStatus,
    Urgency,
)
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.filters import IN_SERVICE, Filters, Where, before, contains
from thenga.kernel.values.fields import Instant, lines, text

CaseId = Annotated[UUID, Path(alias="caseId", description="ID of the case.")]
Subject = Annotated[str, text(5, 200), Field(description="What the case is about, in one line.")]
Category = Annotated[CaseCategory, Field(description="What the case is about.")]
ImpactField = Annotated[Impact, Field(description="How many people it affects.")]
UrgencyField = Annotated[Urgency, Field(description="How urgent it is.")]
Links = Annotated[
    list[ReferenceBody], Field(max_length=20, description="Resources that the case is about.")
]
Assignee = Annotated[UUID | None, Field(description="Staff member who works on it.")]
BY_PRIORITY: ColumnElement[Any] = sa.literal_column(
    "array_position(ARRAY['low', 'normal', 'high', 'urgent'], priority)", sa.Integer
).label("priority")


class TargetState(StrEnum):
    """State of a target, computed when it is read."""

    RUNNING = "running"
    MET = "met"
    BREACHED = "breached"


class OpenCase(Body):
    """A new support case."""

    subject: Subject
    description: Annotated[str, lines(10, 20_000), Field(description="What happened.")]
    category: Category
    impact: ImpactField = "one_person"
    urgency: UrgencyField = "medium"
    links: Links = []
    predecessor_case_id: Annotated[
        UUID | None, Field(description="Earlier case that this one continues.")
    ] = None
    on_behalf_of: Annotated[
        UUID | None, Field(description="Customer that staff open the case for. Staff only.")
    ] = None
    reason: OptionalReason = None


class ChangeCase(Body):
    """Fields to update. Customers can change subject and links while the case is new."""

    subject: Subject | MISSING = MISSING
    category: Category | MISSING = MISSING
    links: Links | MISSING = MISSING
    assignee_user_id: Assignee = None
    reason: OptionalReason = None


class TriageCase(Body):
    """Staff's assessment of a new case."""

    category: Category
    impact: ImpactField
    urgency: UrgencyField
    priority: Annotated[
        Priority | None, Field(description="Priority. Defaults to the one from impact and urgency.")
    ] = None
    priority_reason: Annotated[
        Annotated[str, lines(1, 2000)] | None,
        Field(description="Why the priority is lowered. Required in that case."),
    ] = None
    assignee_user_id: Assignee = None
    reason: Reason


class ResolveCase(Body):
    """How the case was resolved."""

    code: Annotated[ResolutionCode, Field(description="How it was resolved.")]
    text: Annotated[str, lines(1, 20_000), Field(description="Answer to the customer.")]
    reason: Reason


class WriteMessage(Body):
    """A message to the other side."""

    body: Annotated[str, lines(1, 20_000), Field(description="Text of the message.")]
    reason: OptionalReason = None


def _is_linked(resource_id: UUID) -> ColumnElement[bool]:
    return SupportCase.links.op("@>")(sa.literal([{"id": str(resource_id)}], JSONB))


class CaseFilters(Filters[SupportCase]):
    """What cases are listed."""

    organization_id: Annotated[
        UUID | None,
        Field(description="Filter by customer. Customers see only their own cases."),
    ] = None
    status: SupportCaseStatus | None = None
    priority: Priority | None = None
    category: CaseCategory | None = None
    assignee_user_id: Annotated[UUID | None, Field(description="Filter by assignee.")] = None
    sla_state: Annotated[
        TargetState | None,
        IN_SERVICE,
        Field(description="Filter by the current state of the resolution target."),
    ] = None
    due_before: Annotated[
        Instant | None,
        before(SupportCase.due_at),
        Field(description="Resolution due before this time."),
    ] = None
    linked_id: Annotated[
        UUID | None, Where(_is_linked), Field(description="Filter by a linked resource.")
    ] = None
    q: Annotated[str | None, text(2, 100), contains(SupportCase.subject)] = None
