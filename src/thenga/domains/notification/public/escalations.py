"""Escalations: telling the next person until somebody resolves the matter."""

from abc import abstractmethod
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.domains.notification.public.requests import Target
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.values.references import Reference

ResolutionCode = Literal["done", "not_needed", "duplicate", "automatic"]


class EscalationRef(BaseModel):
    """An escalation as its opener sees it."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    status: Literal["open", "exhausted", "resolved"]
    next_step_at: datetime | None


class Escalations(Port, name="notification.escalations", timeout=1.0):
    """Opens and resolves escalations. If nobody answers, ask again with the same key."""

    @idempotent
    @abstractmethod
    async def open(
        self,
        *,
        key: str,
        organization_id: UUID,
        policy_key: str,
        about: Reference,
        facts: dict[str, str],
    ) -> EscalationRef:
        """The escalation about this; one that is not resolved yet is used again."""

    @idempotent
    @abstractmethod
    async def resolve(self, *, key: str, organization_id: UUID, code: ResolutionCode) -> None:
        """Resolve the escalation of this key. Nothing happens if it is resolved already."""


class EscalationRaised(Event, type="notification.EscalationRaised.v1", subject="escalation_id"):
    """An escalation was opened or went up a level."""

    organization_id: UUID
    escalation_id: UUID
    policy_key: str
    about: Reference
    level: int
    targets: list[Target]
    next_step_at: datetime | None


class EscalationResolved(Event, type="notification.EscalationResolved.v1", subject="escalation_id"):
    """An escalation ended; `resolved_by` is null if an event resolved it."""

    organization_id: UUID
    escalation_id: UUID
    about: Reference
    resolution: ResolutionCode
    resolved_by: UUID | None


EVENTS = (EscalationRaised, EscalationResolved)
