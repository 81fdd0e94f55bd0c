"""How ready a company is on a day, as others may ask for it."""

from abc import abstractmethod
from datetime import date, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port

Verdict = Literal["ready", "ready_with_warnings", "not_ready", "unknown"]


class ReadinessView(BaseModel):
    """The verdict on a day; `score` is 0 to 100, and null where nothing can be said."""

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    score: Decimal | None
    as_of: datetime
    stale: bool = False


class Readiness(Port, name="compliance.readiness", timeout=0.5):
    """Can this company prove what it must on that day? Silence means unknown, and is shown so."""

    @abstractmethod
    async def on_date(self, *, organization_id: UUID, on: date | None = None) -> ReadinessView: ...


class ReadinessChanged(Event, type="compliance.ReadinessChanged.v1", subject="organization_id"):
    """The verdict or the blockers of a company changed, or its score moved by a point or more."""

    organization_id: UUID
    verdict: str
    score: Decimal | None = None


EVENTS = (ReadinessChanged,)
