"""What Bid tells of proposals and the matrix, and where machines bring texts for sections."""

from abc import abstractmethod
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from thenga.domains.bid.public.of_bids import OfBid
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.values.references import Reference

SectionStatus = Literal[
    "not_started", "drafting", "ready_for_review", "changes_requested", "approved", "locked"
]
_WIRE = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)


class SectionChanged(OfBid, type="bid.SectionChanged.v1", subject="section_id"):
    """A section of a proposal was begun, written, moved or got a suggestion decided."""

    section_id: UUID
    draft_id: UUID
    status: SectionStatus
    version_number: int


class SectionProducer(BaseModel):
    """The machine that proposes a text."""

    model_config = _WIRE

    agent_id: str
    version: str


class SuggestionReady(OfBid, type="bid.SuggestionReady.v1", subject="suggestion_id"):
    """A text for a section waits for a person."""

    suggestion_id: UUID
    section_id: UUID
    execution_id: UUID | None
    confidence: float
    produced_by: SectionProducer


class MatrixChanged(OfBid, type="bid.MatrixChanged.v1", subject="workspace_id"):
    """Answers to the requirements of a tender, or their evidence, changed; how much is covered."""

    matrix_version: int
    coverage_overall: Decimal | None
    coverage_mandatory: Decimal | None


class SectionSource(BaseModel):
    """What a proposed text rests on; its excerpt is data, never markup or a link."""

    model_config = ConfigDict(frozen=True)

    reference: Reference
    version: int | None = None
    excerpt: str | None = Field(default=None, max_length=300)


class Suggestions(Port, name="bid.suggestions", timeout=1.0):
    """Where machines bring texts for sections; a person accepts, edits or rejects them.

    The same key is taken once. Without a source or a confidence a text is refused. Silence: ask
    again with the same key.
    """

    @abstractmethod
    @idempotent
    async def propose(
        self,
        *,
        key: str,
        organization_id: UUID,
        section_id: UUID,
        base_version: int,
        text: str,
        sources: Annotated[list[SectionSource], Field(min_length=1, max_length=20)],
        confidence: Annotated[float, Field(ge=0, le=1)],
        execution_id: UUID | None,
        explanation_id: UUID | None,
        produced_by: SectionProducer,
        guardrail_outcome: Literal["passed", "flagged", "blocked"],
    ) -> UUID: ...


EVENTS = (SectionChanged, SuggestionReady, MatrixChanged)
