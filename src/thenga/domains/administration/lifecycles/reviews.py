"""The lifecycles of audit reviews, findings and governance decisions."""

from datetime import datetime

from thenga.domains.administration.tables import (
    AuditFinding,
    AuditReview,
    DecisionStatus,
    FindingStatus,
    ReviewKind,
    ReviewStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import RuleViolated, SamePerson


def closed_by_another(row: AuditReview, at: datetime) -> None:
    """The person who closes a review is not the one who submitted it."""
    if row.closed_by is not None and row.closed_by == row.reviewed_by:
        raise SamePerson("You submitted this review. Ask another person to close it.")
    explained = row.regulator_notified_at or row.governance_decision_id
    if row.kind is ReviewKind.INCIDENT and not explained:
        raise RuleViolated(
            "Set `regulatorNotifiedAt` to when the regulator was notified, or "
            "`governanceDecisionId` to the decision that explains why not.",
            rule="ADM-30",
        )


def verified_by_another(row: AuditFinding, at: datetime) -> None:
    """The person who verifies a finding is not its owner."""
    if row.verified_by is not None and row.verified_by == row.owner_user_id:
        raise SamePerson("You own this finding. Ask another person to verify it.")


class AuditReviewLifecycle(Lifecycle, initial=ReviewStatus.OPEN):
    """A review is submitted by one person and closed by another."""

    review = Move(ReviewStatus.OPEN, to=ReviewStatus.IN_REVIEW, by=By.STAFF)
    close = Move(
        ReviewStatus.IN_REVIEW, to=ReviewStatus.CLOSED, guard=closed_by_another, by=By.STAFF
    )


class AuditFindingLifecycle(Lifecycle, initial=FindingStatus.OPEN):
    """A finding is closed once somebody other than its owner has verified it."""

    verify = Move(
        FindingStatus.OPEN, to=FindingStatus.CLOSED, guard=verified_by_another, by=By.STAFF
    )


class GovernanceDecisionLifecycle(Lifecycle, initial=DecisionStatus.RECORDED):
    """A decision never changes; a later one supersedes it."""

    supersede = Move(DecisionStatus.RECORDED, to=DecisionStatus.SUPERSEDED, by=By.SYSTEM)


LIFECYCLES = (AuditReviewLifecycle, AuditFindingLifecycle, GovernanceDecisionLifecycle)
