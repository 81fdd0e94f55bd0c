"""Audit reviews: opened, submitted by one person and closed by another."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select

from thenga.domains.administration import public
from thenga.domains.administration.lifecycles import AuditReviewLifecycle
from thenga.domains.administration.services import actions
from thenga.domains.administration.tables import (
    AuditFinding,
    AuditReview,
    FindingStatus,
    GovernanceDecision,
    ReviewKind,
    ReviewStatus,
)
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.series import next_number
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated, SamePerson, extensions
from thenga.kernel.values.calendar import local_day

MOST_DAYS = 400  # that one review looks at
SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None, "dueOn": AuditReview.due_on}


class FindingsOpen(Problem):
    """A review can be closed once all its findings are closed. Verify the open ones first."""

    code, status, title = "administration-findings-open", 409, "This review has open findings"
    members = extensions(openFindings=(int, "Number of open findings."))


async def open_review(work: Work, *, fields: dict[str, Any], reason: str) -> AuditReview:
    """Open a review with the next number of the year."""
    if fields["due_on"] < fields["starts_on"]:
        raise RuleViolated("`dueOn` cannot be before `startsOn`.", rule="review-dates")
    if (fields["kind"] is ReviewKind.INCIDENT) != (fields.get("incident") is not None):
        raise RuleViolated(
            "Send `incident` only with the kind `incident`, which requires it.",
            rule="review-incident",
        )
    _check_scope(fields["scope"])
    await actions.act_for_platform(work)
    year = local_day(work.now).year
    review = AuditReview(
        number=f"AR-{year}-{await next_number(work, f'audit_review:{year}'):04d}",
        created_by=actions.actor_of(work),
        **fields,
    )
    await work.add(review)
    await actions.record(work, review, reason=reason)
    work.publish(
        public.AuditReviewOpened(
            review_id=review.id,
            number=review.number,
            kind=review.kind.value,
            due_on=review.due_on,
            reviewer_user_ids=review.reviewer_user_ids,
        )
    )
    return review


async def submit_review(work: Work, review_id: UUID, *, reason: str) -> AuditReview:
    """Submit a review. Another person must close it."""
    await actions.act_for_platform(work)
    review = await work.lock(AuditReview, review_id)
    before = actions.shown(review)
    if AuditReviewLifecycle.review(review, at=work.now):
        review.reviewed_by = actions.actor_of(work)
        await work.save(review)
        await actions.record(work, review, reason=reason, before=before)
    return review


async def close_review(
    work: Work,
    review_id: UUID,
    *,
    conclusion: str,
    regulator_notified_at: datetime | None,
    governance_decision_id: UUID | None,
    reason: str,
) -> AuditReview:
    """Close a review without open findings."""
    await actions.act_for_platform(work)
    if governance_decision_id is not None:
        await _check_decision(work, governance_decision_id)
    review = await work.lock(AuditReview, review_id)
    if review.status is ReviewStatus.CLOSED:
        return review
    if same_person(work, review.reviewed_by):
        raise SamePerson("You submitted this review. Ask another person to close it.")
    before = actions.shown(review)
    review.closed_by, review.conclusion = actions.actor_of(work), conclusion
    review.regulator_notified_at = regulator_notified_at or review.regulator_notified_at
    review.governance_decision_id = governance_decision_id
    AuditReviewLifecycle.close(review, at=work.now)
    counted = await _count(work, review_id)
    left = await _count(work, review_id, AuditFinding.status == FindingStatus.OPEN)
    if left:
        raise FindingsOpen(openFindings=left)
    await work.save(review)
    await actions.record(work, review, reason=reason, before=before)
    work.publish(
        public.AuditReviewClosed(review_id=review.id, number=review.number, findings=counted)
    )
    return review


async def list_reviews(
    read: Reader,
    paged: Paged,
    *,
    kind: ReviewKind | None,
    status: ReviewStatus | None,
    overdue: bool | None,
) -> Slice[AuditReview]:
    """The reviews of the platform."""
    statement = where_given(
        select(AuditReview), (AuditReview.kind, kind), (AuditReview.status, status)
    )
    if overdue is not None:
        late = sa.and_(
            AuditReview.status != ReviewStatus.CLOSED, AuditReview.due_on < local_day(read.now)
        )
        statement = statement.where(late if overdue else ~late)
    return await read.page(statement, paged, SORTS[paged.sort])


def _check_scope(scope: dict[str, Any]) -> None:
    days = (date.fromisoformat(scope["to"]) - date.fromisoformat(scope["from"])).days
    if not 0 <= days <= MOST_DAYS:
        raise RuleViolated(
            f"`scope.to` must be on or up to {MOST_DAYS} days after `scope.from`.",
            rule="review-scope",
        )


def is_overdue(due_on: date, *, is_closed: bool, now: datetime) -> bool:
    """Whether a review or finding is open after its last day."""
    return not is_closed and due_on < local_day(now)


async def _count(work: Work, review_id: UUID, *conditions: ColumnElement[bool]) -> int:
    statement = select(sa.func.count()).where(AuditFinding.review_id == review_id, *conditions)
    return await work.value(statement) or 0


async def _check_decision(work: Work, decision_id: UUID) -> None:
    if await work.find(GovernanceDecision, id=decision_id) is None:
        raise RuleViolated(
            "There is no decision with this `governanceDecisionId`.", rule="known-decision"
        )
