"""Findings of a review: due by their severity, closed once another person has verified them."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.administration import public
from thenga.domains.administration.lifecycles import AuditFindingLifecycle, AuditReviewLifecycle
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.reviews.due_dates import due_on
from thenga.domains.administration.tables import (
    AuditFinding,
    AuditReview,
    FindingStatus,
    ReviewStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare import law
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import SamePerson
from thenga.kernel.values.calendar import local_day

MOST_SHOWN = 500


async def record_finding(
    work: Work, review_id: UUID, *, fields: dict[str, Any], reason: str
) -> AuditFinding:
    """Record what a review found. Its last day follows from the severity (ADM-30)."""
    await actions.act_for_platform(work)
    review = await work.lock(AuditReview, review_id)  # it cannot be closed meanwhile
    if review.status is ReviewStatus.CLOSED:
        raise not_possible(
            "This review is closed. Open another one.",
            status=review.status,
            operation="findings",
            allowed=AuditReviewLifecycle.open(review),
        )
    extra = await configuration.value(work, law.EXTRA_HOLIDAYS)
    finding = AuditFinding(
        review_id=review.id,
        due_on=due_on(fields["severity"], local_day(work.now), extra=extra),
        created_by=actions.actor_of(work),
        **fields,
    )
    await work.add(finding)
    await actions.record(work, finding, reason=reason)
    _publish(work, finding)
    return finding


async def verify_finding(
    work: Work, finding_id: UUID, *, evidence: list[dict[str, Any]], reason: str
) -> AuditFinding:
    """Close a finding, with the evidence that it was dealt with."""
    await actions.act_for_platform(work)
    finding = await work.lock(AuditFinding, finding_id)
    if finding.status is FindingStatus.OPEN and same_person(work, finding.owner_user_id):
        raise SamePerson("You own this finding. Ask another person to verify it.")
    before = actions.shown(finding)
    finding.verified_by = finding.verified_by or actions.actor_of(work)
    if AuditFindingLifecycle.verify(finding, at=work.now):
        finding.verified_at = work.now
        finding.evidence = [*finding.evidence, *evidence]
        await work.save(finding)
        await actions.record(work, finding, reason=reason, before=before)
        _publish(work, finding)
    return finding


async def findings_of(read: Reader, review: AuditReview) -> list[AuditFinding]:
    """The findings of a review, in the order in which they were recorded."""
    statement = (
        select(AuditFinding).where(AuditFinding.review_id == review.id).order_by(AuditFinding.id)
    )
    return await read.all(statement, limit=MOST_SHOWN)


def _publish(work: Work, finding: AuditFinding) -> None:
    work.publish(
        public.AuditFindingRecorded(
            finding_id=finding.id,
            review_id=finding.review_id,
            severity=finding.severity,
            status=finding.status.value,
            owner_user_id=finding.owner_user_id,
            due_on=finding.due_on,
        )
    )
