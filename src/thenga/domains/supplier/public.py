"""What other domains may know of Supplier: the port that they already ask."""

from abc import abstractmethod
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent

TrustLevel = Literal["unrated", "provisional", "trusted", "watch", "restricted", "blocked"]


class TrustView(BaseModel):
    """How far a supplier is trusted, and what follows from it."""

    model_config = ConfigDict(frozen=True)

    supplier_id: UUID
    state: TrustLevel
    score: Decimal | None
    evidence_band: str | None
    effects: list[str]
    override_until: datetime | None
    appeal_open: bool
    as_of: datetime


class Trust(Port, name="supplier.trust", timeout=0.3):
    """How far suppliers are trusted, many at once. Silence means unknown, and is shown so."""

    @abstractmethod
    @idempotent
    async def describe(
        self, *, supplier_ids: Annotated[list[UUID], Field(max_length=200)]
    ) -> list[TrustView]: ...


EVENTS: tuple[type[Event], ...] = ()
