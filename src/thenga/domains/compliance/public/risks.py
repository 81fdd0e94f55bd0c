"""What Compliance tells of risks."""

from uuid import UUID

from thenga.kernel.declare.event import Event


class ComplianceRiskRaised(Event, type="compliance.ComplianceRiskRaised.v1", subject="risk_id"):
    """A rule found a risk; once for each subject while it is open."""

    organization_id: UUID
    risk_id: UUID
    rule_code: str
    level: str
    score: int
    status: str
    tender_opportunity_id: UUID | None = None


class ComplianceRiskChanged(Event, type="compliance.ComplianceRiskChanged.v1", subject="risk_id"):
    """A risk was treated, accepted, reopened, closed or has materialised."""

    organization_id: UUID
    risk_id: UUID
    rule_code: str
    level: str
    score: int
    status: str
    tender_opportunity_id: UUID | None = None


EVENTS = (ComplianceRiskRaised, ComplianceRiskChanged)
