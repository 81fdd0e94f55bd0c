"""What Contract tells of risks, packages and lessons."""

from datetime import date
from uuid import UUID

from thenga.kernel.declare.event import Event


class ContractRiskRaised(Event, type="contract.ContractRiskRaised.v1", subject="risk_id"):
    """A risk of a contract is high or critical, or has materialised."""

    organization_id: UUID
    workspace_id: UUID
    risk_id: UUID
    label: str
    score: int
    band: str
    category: str
    materialised: bool


class SupplierPackageChanged(
    Event, type="contract.SupplierPackageChanged.v1", subject="coordination_id"
):
    """A package or matter with a supplier was opened or moved."""

    organization_id: UUID
    workspace_id: UUID
    coordination_id: UUID
    supplier_id: UUID | None
    kind: str
    status: str
    due_on: date | None


class LessonPublished(Event, type="contract.LessonPublished.v1", subject="lesson_id"):
    """A lesson was published; its text stays here."""

    organization_id: UUID
    workspace_id: UUID
    lesson_id: UUID
    category: str | None
    tags: list[str]


EVENTS = (ContractRiskRaised, SupplierPackageChanged, LessonPublished)
