"""What Opportunity tells of the sources it reads tenders from."""

from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel

from thenga.domains.opportunity.public.notices import VALUE
from thenga.kernel.declare.event import Event

Health = Literal["unknown", "ok", "late", "failing"]


class RunCounts(BaseModel):
    """What became of the records of a run."""

    model_config = VALUE

    seen: int
    distinct: int
    created: int
    amended: int
    unchanged: int
    repaired: int
    rejected: int


class SourceChanged(Event, type="opportunity.SourceChanged.v1", subject="source_id"):
    """A source was added, changed, activated, paused or retired. Told to its keeper."""

    organization_id: UUID
    source_id: UUID
    status: Literal["draft", "active", "paused", "retired"]


class SourceRunFinished(Event, type="opportunity.SourceRunFinished.v1", subject="run_id"):
    """A run over a source ended."""

    organization_id: UUID
    run_id: UUID
    source_id: UUID
    mode: str
    status: Literal["succeeded", "partial", "failed", "cancelled"]
    counts: RunCounts
    completeness: Decimal | None
    error_code: str | None


class SourceHealthChanged(Event, type="opportunity.SourceHealthChanged.v1", subject="source_id"):
    """A source became late, is failing, or is well again."""

    organization_id: UUID
    source_id: UUID
    from_health: Health
    to_health: Health
    reason: str | None


EVENTS = (SourceChanged, SourceRunFinished, SourceHealthChanged)
