"""Support cases, for the customer who opened them and for staff."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.administration.api.reasons import OptionalReason, Reason
from thenga.domains.administration.api.references import ReferenceBody, ReferenceView, stored
from thenga.domains.administration.lifecycles import SupportCaseLifecycle
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.public.support import Priority
from thenga.domains.administration.services import actions, support
from thenga.domains.administration.services.actions import ReasonRequired
from thenga.domains.administration.services.support import (
    CaseFilters,
    Impact,
    TargetState,
    TargetStatus,
    TooManyCases,
    Triage,
    Urgency,
)
from thenga.domains.administration.tables import (
    CaseCategory,
    ResolutionCode,
    SupportCase,
    SupportCaseStatus,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, By
from thenga.kernel.errors import Conflict, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, lines, text

router = make_router("Administration / Support case")

Customer = Annotated[
    UUID | None,
    Query(
        alias="organizationId",
        description="Filter by customer. Customers see only their own cases.",
    ),
]

CaseId = Annotated[UUID, Path(alias="caseId", description="ID of the case.")]
Subject = Annotated[str, text(5, 200), Field(description="What the case is about, in one line.")]
Category = Annotated[CaseCategory, Field(description="What the case is about.")]
ImpactField = Annotated[Impact, Field(description="How many people it affects.")]
UrgencyField = Annotated[Urgency, Field(description="How urgent it is.")]
Links = Annotated[
    list[ReferenceBody], Field(max_length=20, description="Resources that the case is about.")
]
Assignee = Annotated[UUID | None, Field(description="Staff member who works on it.")]


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

    subject: Subject = "unchanged"
    category: Category = CaseCategory.OTHER
    links: Links = []
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


class TargetView(View):
    """A target in working minutes."""

    target_minutes: Annotated[int, Field(description="Working minutes allowed.")]
    due_at: Annotated[datetime, Field(description="Due time.")]
    met_at: Annotated[datetime | None, Field(description="When the target was met.")]
    state: Annotated[TargetState, Field(description="Current state.")]
    remaining_minutes: Annotated[
        int | None, Field(description="Working minutes left. Null once the target is met.")
    ]

    @classmethod
    def of(cls, status: TargetStatus) -> "TargetView":
        return cls.model_validate(status)


class SlaView(View):
    """The targets of a case."""

    first_response: Annotated[TargetView, Field(description="First response from staff.")]
    resolution: Annotated[TargetView, Field(description="Resolution of the case.")]


class ResolutionView(View):
    """How a case was resolved."""

    code: Annotated[str, Field(description="How it was resolved.")]
    text: Annotated[str | None, Field(description="Answer to the customer.")]
    at: Annotated[datetime | None, Field(description="When it was resolved.")]
    by: Annotated[UUID | None, Field(description="Staff member who resolved it.")]


class CaseView(Stored):
    """A support case. `allowedMoves` lists what the caller can do next."""

    organization_id: Annotated[UUID, Field(description="Customer.")]
    number: Annotated[str, Field(description="Number of the case, counted for each customer.")]
    subject: Subject
    description: Annotated[str, Field(description="What happened.")]
    category: Category
    impact: ImpactField
    urgency: UrgencyField
    links: Annotated[list[ReferenceView], Field(description="Resources that the case is about.")]
    requester_user_id: Annotated[UUID, Field(description="Person who opened it.")]
    channel: Annotated[str, Field(description="How the case reached us.")]
    priority: Annotated[Priority, Field(description="Priority.")]
    priority_reason: Annotated[str | None, Field(description="Why the priority was lowered.")]
    assignee_user_id: Assignee
    predecessor_case_id: Annotated[
        UUID | None, Field(description="Earlier case that this one continues.")
    ]
    status: Annotated[SupportCaseStatus, Field(description="Status.")]
    sla: Annotated[SlaView, Field(description="Current state of the targets.")]
    due_at: Annotated[datetime, Field(description="When the resolution is due.")]
    resolution: Annotated[
        ResolutionView | None, Field(description="Resolution. Null until it is resolved.")
    ]
    reopen_count: Annotated[int, Field(description="Number of times it was reopened.")]
    allowed_moves: Annotated[
        list[AllowedMove],
        Field(description="Operations that are possible now, and why the others are not."),
    ]

    @classmethod
    def of(cls, case: SupportCase, read: Reader) -> "CaseView":
        now = read.now
        by = By.STAFF if actions.is_staff(read) else By.CALLER
        return cls.shown(
            case.__dict__
            | {
                "links": [ReferenceView.model_validate(one) for one in case.links],
                "sla": SlaView(
                    first_response=TargetView.of(support.first_response(case, now)),
                    resolution=TargetView.of(support.resolution(case, now)),
                ),
                "resolution": _resolution(case),
                "allowed_moves": SupportCaseLifecycle.allowed(case, now, by=by),
            }
        )


@router.post(
    "/administration/support-cases",
    status_code=201,
    responses=problems(TooManyCases, RuleViolated, ReasonRequired),
)
async def open_support_case(
    body: OpenCase, work: Annotated[Work, writes(Permission.SUPPORT_CASE_CREATE)]
) -> CaseView:
    """Open a support case. Impact and urgency determine its priority and due times.

    Staff can open a case for a customer with `onBehalfOf` and `reason`.
    """
    fields = body.model_dump(exclude={"reason", "on_behalf_of", "links"})
    case = await support.open_case(
        work,
        fields=fields | {"links": stored(body.links)},
        on_behalf_of=body.on_behalf_of,
        reason=body.reason,
    )
    return CaseView.of(case, work)


@router.get("/administration/support-cases")
async def list_support_cases(
    read: Annotated[Reader, reads(Permission.SUPPORT_CASE_READ)],
    page: Annotated[Paged, paged("createdAt", "dueAt", "priority", default="-createdAt")],
    organization_id: Customer = None,
    status: Annotated[SupportCaseStatus | None, Query(description="Filter by status.")] = None,
    priority: Annotated[Priority | None, Query(description="Filter by priority.")] = None,
    category: Annotated[CaseCategory | None, Query(description="Filter by category.")] = None,
    assignee_user_id: Annotated[
        UUID | None, Query(alias="assigneeUserId", description="Filter by assignee.")
    ] = None,
    sla_state: Annotated[
        TargetState | None,
        Query(
            alias="slaState", description="Filter by the current state of the resolution target."
        ),
    ] = None,
    due_before: Annotated[
        Instant | None, Query(alias="dueBefore", description="Resolution due before this time.")
    ] = None,
    linked_id: Annotated[
        UUID | None, Query(alias="linkedId", description="Filter by a linked resource.")
    ] = None,
    q: Annotated[
        str | None, text(2, 100), Query(description="Filter by part of the subject.")
    ] = None,
) -> PageOf[CaseView]:
    """List support cases. Customers see their own, staff those of every customer."""
    filters = CaseFilters(
        status=status,
        priority=priority,
        category=category,
        assignee_user_id=assignee_user_id,
        organization_id=organization_id,
        sla_state=sla_state,
        due_before=due_before,
        linked_id=linked_id,
        q=q,
    )
    found = await support.list_cases(read, page, filters)
    return PageOf[CaseView].of(found, lambda case: CaseView.of(case, read))


@router.get("/administration/support-cases/{caseId}")
async def get_support_case(
    case_id: CaseId, read: Annotated[Reader, reads(Permission.SUPPORT_CASE_READ)]
) -> CaseView:
    """Get a support case with the current state of its targets."""
    return CaseView.of(await support.get_case(read, case_id), read)


@router.patch(
    "/administration/support-cases/{caseId}",
    responses=problems(InvalidTransition, RuleViolated, ReasonRequired),
)
async def change_support_case(
    case_id: CaseId,
    body: ChangeCase,
    work: Annotated[Work, writes(Permission.SUPPORT_CASE_UPDATE)],
) -> CaseView:
    """Update the fields you send. Customers can change subject and links while the case is new."""
    fields: dict[str, Any] = {n: v for n, v in body.changes().items() if n != "reason"}
    if "links" in fields:
        fields["links"] = stored(body.links)
    case = await support.change_case(work, case_id, fields=fields, reason=body.reason)
    return CaseView.of(case, work)


@router.post(
    "/administration/support-cases/{caseId}/triage",
    responses=problems(InvalidTransition, RuleViolated),
)
async def triage_support_case(
    case_id: CaseId,
    body: TriageCase,
    work: Annotated[Work, writes(Permission.SUPPORT_CASE_TRIAGE)],
) -> CaseView:
    """Set the category, impact, urgency, priority and assignee of a new case."""
    triage = Triage(
        category=body.category,
        impact=body.impact,
        urgency=body.urgency,
        priority=body.priority,
        priority_reason=body.priority_reason,
        assignee_user_id=body.assignee_user_id,
    )
    return CaseView.of(await support.triage_case(work, case_id, triage, reason=body.reason), work)


@router.post(
    "/administration/support-cases/{caseId}/resolve",
    responses=problems(InvalidTransition, Conflict),
)
async def resolve_support_case(
    case_id: CaseId,
    body: ResolveCase,
    work: Annotated[Work, writes(Permission.SUPPORT_CASE_RESOLVE)],
) -> CaseView:
    """Resolve a case.

    A message from the customer reopens it for `administration.case.reopenDays` days.
    """
    case = await support.resolve_case(
        work, case_id, code=body.code, text=body.text, reason=body.reason
    )
    return CaseView.of(case, work)


def _resolution(case: SupportCase) -> ResolutionView | None:
    if case.resolution_code is None:
        return None
    return ResolutionView(
        code=case.resolution_code,
        text=case.resolution_text,
        at=case.resolved_at,
        by=case.resolved_by,
    )
