"""What Compliance tells of profiles and requirements."""

from uuid import UUID

from thenga.kernel.declare.event import Event


class ComplianceProfileCreated(
    Event, type="compliance.ComplianceProfileCreated.v1", subject="profile_id"
):
    """A company began to keep its proofs here; `spheres` are those of government it sells to."""

    organization_id: UUID
    profile_id: UUID
    status: str
    spheres: list[str]


class ComplianceProfileChanged(
    Event, type="compliance.ComplianceProfileChanged.v1", subject="profile_id"
):
    """The spheres, the answers or the responsible person of a profile changed."""

    organization_id: UUID
    profile_id: UUID
    status: str
    spheres: list[str]


class RequirementChanged(Event, type="compliance.RequirementChanged.v1", subject="requirement_id"):
    """A requirement was added or changed, or whether it applies changed."""

    organization_id: UUID
    requirement_id: UUID
    code: str | None
    origin: str
    applicability: str
    tender_opportunity_id: UUID | None = None


EVENTS = (ComplianceProfileCreated, ComplianceProfileChanged, RequirementChanged)
