"""The lifecycles of audit reviews, findings and governance decisions."""

from datetime import datetime

from thenga.domains.administration.tables import (
    AuditReview,
    DecisionStatus,
    FindingStatus,
    ReviewKind,
    ReviewStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import RuleViolated


def explained(row: AuditReview, at: datetime) -> None:
    """A closed incident says when the regulator was notified, or why not."""
    has_explanation = row.regulator_notified_at or row.governance_decision_id
    if row.kind is ReviewKind.INCIDENT and not has_explanation:
        raise RuleViolated(
            "Set `regulatorNotifiedAt` to when the regulator was notified, or "
            "`governanceDecisionId` to the decision that explains why not.",
            rule="ADM-30",
        )


class AuditReviewLifecycle(Lifecycle, initial=ReviewStatus.OPEN):
    """A review is submitted by one person and closed by another."""

    review = Move(ReviewStatus.OPEN, to=ReviewStatus.IN_REVIEW, by=By.STAFF)
    close = Move(ReviewStatus.IN_REVIEW, to=ReviewStatus.CLOSED, guard=explained, by=By.STAFF)


class AuditFindingLifecycle(Lifecycle, initial=FindingStatus.OPEN):
    """A finding is closed once somebody other than its owner has verified it."""

    verify = Move(FindingStatus.OPEN, to=FindingStatus.CLOSED, by=By.STAFF)


class GovernanceDecisionLifecycle(Lifecycle, initial=DecisionStatus.RECORDED):
    """A decision never changes; a later one supersedes it."""

    supersede = Move(DecisionStatus.RECORDED, to=DecisionStatus.SUPERSEDED, by=By.SYSTEM)


LIFECYCLES = (AuditReviewLifecycle, AuditFindingLifecycle, GovernanceDecisionLifecycle)
