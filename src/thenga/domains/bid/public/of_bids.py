"""What every event of a bid says."""

from uuid import UUID

from thenga.kernel.declare.event import Event


class OfBid(Event):
    """A fact of one bid; the tender is null for a bid outside of the platform."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
