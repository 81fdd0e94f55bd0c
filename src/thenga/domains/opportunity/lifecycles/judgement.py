"""Which moves a qualification and a recommendation have."""

from thenga.domains.opportunity.tables import QualificationStatus, RecommendationStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move

Q, R = QualificationStatus, RecommendationStatus


class QualificationLifecycle(Lifecycle, initial=Q.DRAFT):
    """One revision of a qualification; a person completes it (OPP-36)."""

    complete = Move(Q.DRAFT, to=Q.COMPLETED)
    supersede = Move(Q.COMPLETED, to=Q.SUPERSEDED, by=By.SYSTEM)


class RecommendationLifecycle(Lifecycle, initial=R.PROPOSED):
    """A recommendation; a person decides, and what changes it proposes it again (OPP-38)."""

    accept = Move(R.PROPOSED, to=R.ACCEPTED)
    override = Move(R.PROPOSED, to=R.OVERRIDDEN)
    propose = Move(R.ACCEPTED, R.OVERRIDDEN, to=R.PROPOSED, by=By.SYSTEM)
