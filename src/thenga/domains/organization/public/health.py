"""What Organization tells of a company's health."""

from decimal import Decimal
from uuid import UUID

from thenga.kernel.declare.event import Event


class HealthChanged(Event, type="organization.HealthChanged.v1", subject="health_id"):
    """The score moved by a whole point or more since it was last told; decision support only."""

    organization_id: UUID
    health_id: UUID
    score: Decimal
    band: str
    formula_version: int


EVENTS = (HealthChanged,)
