"""Audit reviews and their findings."""

from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.administration.lifecycles import AuditFindingLifecycle, AuditReviewLifecycle
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.schemas.reasons import Reason, Reasoned
from thenga.domains.administration.schemas.references import ReferenceBody, ReferenceView, stored
from thenga.domains.administration.services import reviews
from thenga.domains.administration.services.reviews import FindingsOpen, Severity
from thenga.domains.administration.tables import (
    AuditFinding,
    AuditReview,
    FindingStatus,
    ReviewKind,
    ReviewStatus,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, By
from thenga.kernel.errors import InvalidTransition, RuleViolated, SamePerson
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Count, Day, Instant, lines, matching, text

router = make_router("Administration / Audit review")

ReviewId = Annotated[UUID, Path(alias="reviewId", description="ID of the review.")]
FindingId = Annotated[UUID, Path(alias="findingId", description="ID of the finding.")]
Title = Annotated[str, text(1, 200), Field(description="Title.")]
Long = Annotated[str, lines(1, 20_000)]
Evidence = Annotated[
    list[ReferenceBody], Field(max_length=20, description="Resources that serve as evidence.")
]


class ReviewScope(Body):
    """Scope of a review."""

    domains: Annotated[
        list[Annotated[str, matching("^[a-z]{1,40}$", 40)]],
        Field(max_length=20, description="Domains. Empty for all."),
    ] = []
    actions: Annotated[
        list[Annotated[str, matching("^[a-z_]{1,40}(:[a-z_]{1,40}){2}$", 122)]],
        Field(max_length=100, description="Permissions used. Empty for all."),
    ] = []
    since: Annotated[Day, Field(alias="from", description="First day.")]
    until: Annotated[Day, Field(alias="to", description="Last day, at most 400 days later.")]


class Incident(Body):
    """Security incident under review."""

    detected_at: Annotated[Instant, Field(description="When it was detected.")]
    description: Annotated[Long, Field(description="What happened.")]
    affected_count: Annotated[Count | None, Field(description="People affected, if known.")] = None
    regulator_reference: Annotated[
        Annotated[str, text(1, 100)] | None,
        Field(description="Reference of the Information Regulator."),
    ] = None
    subjects_notified_at: Annotated[
        Instant | None, Field(description="When the people affected were notified.")
    ] = None


class OpenReview(Body):
    """A new audit review."""

    kind: Annotated[ReviewKind, Field(description="Kind of review.")]
    title: Title
    scope: Annotated[ReviewScope, Field(description="Scope of the review.")]
    starts_on: Annotated[Day, Field(description="First day of the review.")]
    due_on: Annotated[Day, Field(description="Day by which it should be closed.")]
    reviewer_user_ids: Annotated[
        list[UUID],
        Field(min_length=1, max_length=10, description="People who carry out the review."),
    ]
    incident: Annotated[
        Incident | None,
        Field(description="Incident under review. Required for the kind `incident`."),
    ] = None
    regulator_notified_at: Annotated[
        Instant | None, Field(description="When the regulator was notified of an incident.")
    ] = None
    reason: Reason


class RecordFinding(Body):
    """Finding of a review."""

    title: Title
    severity: Annotated[Severity, Field(description="Severity, which determines the due date.")]
    description: Annotated[Long, Field(description="Description of the problem.")]
    evidence: Evidence = []
    owner_user_id: Annotated[UUID, Field(description="Person who must resolve it.")]
    reason: Reason


class CloseReview(Body):
    """The result of a review."""

    conclusion: Annotated[Long, Field(description="Result of the review.")]
    regulator_notified_at: Annotated[
        Instant | None, Field(description="When the regulator was notified of the incident.")
    ] = None
    governance_decision_id: Annotated[
        UUID | None, Field(description="Decision that explains why the regulator was not notified.")
    ] = None
    reason: Reason


class VerifyFinding(Body):
    """Evidence that the finding was resolved."""

    evidence: Evidence = []
    reason: Reason


class FindingView(Stored):
    """A finding of an audit review."""

    review_id: Annotated[UUID, Field(description="Review that the finding belongs to.")]
    title: Title
    severity: Annotated[Severity, Field(description="Severity.")]
    description: Annotated[str, Field(description="Description of the problem.")]
    evidence: Annotated[list[ReferenceView], Field(description="Resources that serve as evidence.")]
    owner_user_id: Annotated[UUID, Field(description="Person who must resolve it.")]
    due_on: Annotated[date, Field(description="Due date, in working days by severity.")]
    overdue: Annotated[bool, Field(description="Whether it is overdue.")]
    status: Annotated[FindingStatus, Field(description="Status.")]
    created_by: Annotated[UUID, Field(description="Person who recorded it.")]
    verified_by: Annotated[UUID | None, Field(description="Person who verified it.")]
    verified_at: Annotated[datetime | None, Field(description="When it was verified.")]
    allowed_moves: Annotated[
        list[AllowedMove],
        Field(description="Operations that are possible now, and why the others are not."),
    ]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/administration/findings/{self.id}"

    @classmethod
    def of(cls, finding: AuditFinding, now: datetime) -> "FindingView":
        closed = finding.status is FindingStatus.CLOSED
        return cls.shown(
            finding.__dict__
            | {
                "evidence": [ReferenceView.model_validate(one) for one in finding.evidence],
                "overdue": reviews.is_overdue(finding.due_on, is_closed=closed, now=now),
                "allowed_moves": AuditFindingLifecycle.allowed(finding, now, by=By.STAFF),
            }
        )


class ScopeView(View):
    """Scope of a review."""

    domains: Annotated[list[str], Field(description="Domains. Empty for all.")]
    actions: Annotated[list[str], Field(description="Permissions used. Empty for all.")]
    since: Annotated[date, Field(alias="from", description="First day.")]
    until: Annotated[date, Field(alias="to", description="Last day.")]


class IncidentView(View):
    """Security incident under review."""

    detected_at: Annotated[datetime, Field(description="When it was detected.")]
    description: Annotated[str, Field(description="What happened.")]
    affected_count: Annotated[int | None, Field(description="People affected, if known.")]
    regulator_reference: Annotated[
        str | None, Field(description="Reference of the Information Regulator.")
    ]
    subjects_notified_at: Annotated[
        datetime | None, Field(description="When the people affected were notified.")
    ]


class ReviewView(Stored):
    """An audit review."""

    number: Annotated[str, Field(description="Number, such as `AR-2026-0004`.")]
    kind: Annotated[ReviewKind, Field(description="Kind of review.")]
    title: Title
    scope: Annotated[ScopeView, Field(description="Scope of the review.")]
    starts_on: Annotated[date, Field(description="First day of the review.")]
    due_on: Annotated[date, Field(description="Day by which it should be closed.")]
    overdue: Annotated[bool, Field(description="Whether it is overdue.")]
    reviewer_user_ids: Annotated[list[UUID], Field(description="People who carry out the review.")]
    incident: Annotated[IncidentView | None, Field(description="Incident under review.")]
    regulator_notified_at: Annotated[
        datetime | None, Field(description="When the regulator was notified of the incident.")
    ]
    governance_decision_id: Annotated[
        UUID | None, Field(description="Decision that explains why the regulator was not notified.")
    ]
    status: Annotated[ReviewStatus, Field(description="Status.")]
    conclusion: Annotated[str | None, Field(description="Result. Null until it is closed.")]
    created_by: Annotated[UUID, Field(description="Person who opened it.")]
    reviewed_by: Annotated[UUID | None, Field(description="Person who submitted it.")]
    closed_by: Annotated[UUID | None, Field(description="Person who closed it.")]
    allowed_moves: Annotated[
        list[AllowedMove],
        Field(description="Operations that are possible now, and why the others are not."),
    ]

    @classmethod
    def of(cls, review: AuditReview, now: datetime, **more: Any) -> Any:
        closed = review.status is ReviewStatus.CLOSED
        incident = review.incident
        return cls.shown(
            review.__dict__
            | {
                "scope": ScopeView.model_validate(review.scope),
                "incident": None if incident is None else IncidentView.model_validate(incident),
                "overdue": reviews.is_overdue(review.due_on, is_closed=closed, now=now),
                "allowed_moves": AuditReviewLifecycle.allowed(review, now, by=By.STAFF),
                **more,
            }
        )


class ReviewDetail(ReviewView):
    """An audit review with its findings."""

    findings: Annotated[list[FindingView], Field(description="Findings, oldest first.")]


@router.post("/administration/audit-reviews", status_code=201, responses=problems(RuleViolated))
async def open_audit_review(
    body: OpenReview, work: Annotated[Work, writes(Permission.AUDIT_REVIEW_OPEN)]
) -> ReviewDetail:
    """Open an audit review. It gets the next number of the year."""
    fields = body.model_dump(exclude={"reason", "scope", "incident"})
    fields["scope"] = body.scope.model_dump(mode="json", by_alias=True)
    incident = body.incident
    fields["incident"] = (
        None if incident is None else incident.model_dump(mode="json", by_alias=True)
    )
    review = await reviews.open_review(work, fields=fields, reason=body.reason)
    return await _detail(work, review)


@router.get("/administration/audit-reviews")
async def list_audit_reviews(
    read: Annotated[Reader, reads(Permission.AUDIT_REVIEW_READ)],
    page: Annotated[Paged, paged("createdAt", "dueOn", default="-createdAt")],
    kind: Annotated[ReviewKind | None, Query(description="Filter by kind.")] = None,
    status: Annotated[ReviewStatus | None, Query(description="Filter by status.")] = None,
    overdue: Annotated[bool | None, Query(description="Filter by whether it is overdue.")] = None,
) -> PageOf[ReviewView]:
    """List the audit reviews of the platform."""
    found = await reviews.list_reviews(read, page, kind=kind, status=status, overdue=overdue)
    return PageOf[ReviewView].of(found, lambda review: ReviewView.of(review, read.now))


@router.get("/administration/audit-reviews/{reviewId}")
async def get_audit_review(
    review_id: ReviewId, read: Annotated[Reader, reads(Permission.AUDIT_REVIEW_READ)]
) -> ReviewDetail:
    """Get an audit review with its findings."""
    return await _detail(read, await read.get(AuditReview, review_id))


@router.post(
    "/administration/audit-reviews/{reviewId}/findings",
    status_code=201,
    responses=problems(InvalidTransition),
)
async def record_finding(
    review_id: ReviewId,
    body: RecordFinding,
    work: Annotated[Work, writes(Permission.AUDIT_REVIEW_RECORD_FINDING)],
) -> FindingView:
    """Record a finding. Its severity determines the due date, in working days."""
    fields = body.model_dump(exclude={"reason", "evidence"}) | {"evidence": stored(body.evidence)}
    finding = await reviews.record_finding(work, review_id, fields=fields, reason=body.reason)
    return FindingView.of(finding, work.now)


@router.post(
    "/administration/audit-reviews/{reviewId}/review", responses=problems(InvalidTransition)
)
async def submit_audit_review(
    review_id: ReviewId,
    body: Reasoned,
    work: Annotated[Work, writes(Permission.AUDIT_REVIEW_REVIEW)],
) -> ReviewDetail:
    """Submit a review. Another person must close it."""
    return await _detail(work, await reviews.submit_review(work, review_id, reason=body.reason))


@router.post(
    "/administration/audit-reviews/{reviewId}/close",
    responses=problems(InvalidTransition, FindingsOpen, SamePerson, RuleViolated),
)
async def close_audit_review(
    review_id: ReviewId,
    body: CloseReview,
    work: Annotated[Work, writes(Permission.AUDIT_REVIEW_CLOSE)],
) -> ReviewDetail:
    """Close a review without open findings. The person who submitted it cannot close it."""
    review = await reviews.close_review(
        work,
        review_id,
        conclusion=body.conclusion,
        regulator_notified_at=body.regulator_notified_at,
        governance_decision_id=body.governance_decision_id,
        reason=body.reason,
    )
    return await _detail(work, review)


@router.get("/administration/findings/{findingId}")
async def get_finding(
    finding_id: FindingId, read: Annotated[Reader, reads(Permission.FINDING_READ)]
) -> FindingView:
    """Get a finding."""
    return FindingView.of(await read.get(AuditFinding, finding_id), read.now)


@router.post(
    "/administration/findings/{findingId}/verify",
    responses=problems(InvalidTransition, SamePerson),
)
async def verify_finding(
    finding_id: FindingId,
    body: VerifyFinding,
    work: Annotated[Work, writes(Permission.FINDING_VERIFY)],
) -> FindingView:
    """Close a finding that was resolved. Its owner cannot close it."""
    finding = await reviews.verify_finding(
        work, finding_id, evidence=stored(body.evidence), reason=body.reason
    )
    return FindingView.of(finding, work.now)


async def _detail(read: Reader, review: AuditReview) -> ReviewDetail:
    found = await reviews.findings_of(read, review)
    shown = [FindingView.of(one, read.now) for one in found]
    detail: ReviewDetail = ReviewDetail.of(review, read.now, findings=shown)
    return detail
