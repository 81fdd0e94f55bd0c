"""Support cases, for the customer who opened them and for staff."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field

from thenga.domains.administration.lifecycles import SupportCaseLifecycle
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.public.support import Priority
from thenga.domains.administration.schemas.references import ReferenceView
from thenga.domains.administration.schemas.support_cases import (
    BY_PRIORITY,
    Assignee,
    CaseFilters,
    CaseId,
    Category,
    ChangeCase,
    ImpactField,
    OpenCase,
    ResolveCase,
    Subject,
    TargetState,
    TriageCase,
    UrgencyField,
)
from thenga.domains.administration.services import support
from thenga.domains.administration.services.actions import ReasonRequired
from thenga.domains.administration.services.support import TooManyCases
from thenga.domains.administration.tables import SupportCase, SupportCaseStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Conflict, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.filters import filtered
from thenga.kernel.http.lists import paged
from thenga.kernel.http.moved import Moved
from thenga.kernel.http.reference import problems

router = make_router("Administration / Support case")


class TargetView(View):
    """A target in working minutes."""

    target_minutes: Annotated[int, Field(description="Working minutes allowed.")]
    due_at: Annotated[datetime, Field(description="Due time.")]
    met_at: Annotated[datetime | None, Field(description="When the target was met.")]
    state: Annotated[TargetState, Field(description="Current state.")]
    remaining_minutes: Annotated[
        int | None, Field(description="Working minutes left. Null once the target is met.")
    ]


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


class CaseView(Moved, lifecycle=SupportCaseLifecycle):
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
    def shown_to(cls, case: SupportCase, read: Reader) -> Self:
        """With the state of its targets by the reader's clock."""
        sla = SlaView(
            first_response=TargetView.model_validate(support.first_response(case, read.now)),
            resolution=TargetView.model_validate(support.resolution(case, read.now)),
        )
        links = [ReferenceView.model_validate(link) for link in case.links]
        return cls.of(case, read, links=links, sla=sla, resolution=_resolution(case))


def _resolution(case: SupportCase) -> ResolutionView | None:
    if case.resolution_code is None:
        return None
    return ResolutionView(
        code=case.resolution_code,
        text=case.resolution_text,
        at=case.resolved_at,
        by=case.resolved_by,
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
    return CaseView.shown_to(await support.open_case(work, body), work)


@router.get("/administration/support-cases")
async def list_support_cases(
    read: Annotated[Reader, reads(Permission.SUPPORT_CASE_READ, for_staff=True)],
    filters: Annotated[CaseFilters, filtered()],
    page: Annotated[
        Paged, paged("createdAt", SupportCase.due_at, BY_PRIORITY, default="-createdAt")
    ],
) -> PageOf[CaseView]:
    """List support cases. Customers see their own, staff those of every customer."""
    return PageOf.of(await support.list_cases(read, page, filters), CaseView.shown_to, read)


@router.get("/administration/support-cases/{caseId}")
async def get_support_case(
    case_id: CaseId, read: Annotated[Reader, reads(Permission.SUPPORT_CASE_READ, for_staff=True)]
) -> CaseView:
    """Get a support case with the current state of its targets."""
    return CaseView.shown_to(await support.get_case(read, case_id), read)


@router.patch(
    "/administration/support-cases/{caseId}",
    responses=problems(InvalidTransition, RuleViolated, ReasonRequired),
)
async def change_support_case(
    case_id: CaseId,
    body: ChangeCase,
    work: Annotated[Work, writes(Permission.SUPPORT_CASE_UPDATE, for_staff=True)],
) -> CaseView:
    """Update the fields you send. Customers can change subject and links while the case is new."""
    return CaseView.shown_to(await support.change_case(work, case_id, body), work)


@router.post(
    "/administration/support-cases/{caseId}/triage",
    responses=problems(InvalidTransition, RuleViolated),
)
async def triage_support_case(
    case_id: CaseId,
    body: TriageCase,
    work: Annotated[Work, writes(Permission.SUPPORT_CASE_TRIAGE, for_staff=True)],
) -> CaseView:
    """Set the category, impact, urgency, priority and assignee of a new case."""
    return CaseView.shown_to(await support.triage_case(work, case_id, body), work)


@router.post(
    "/administration/support-cases/{caseId}/resolve",
    responses=problems(InvalidTransition, Conflict),
)
async def resolve_support_case(
    case_id: CaseId,
    body: ResolveCase,
    work: Annotated[Work, writes(Permission.SUPPORT_CASE_RESOLVE, for_staff=True)],
) -> CaseView:
    """Resolve a case.

    A message from the customer reopens it for `administration.case.reopenDays` days.
    """
    return CaseView.shown_to(await support.resolve_case(work, case_id, body), work)
