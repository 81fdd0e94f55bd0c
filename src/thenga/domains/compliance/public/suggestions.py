"""Where machines bring what they read out of papers; a person accepts or rejects it."""

from abc import abstractmethod
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent

_VALUE = ConfigDict(frozen=True)

SuggestionKind = Literal[
    "document_facts", "document_type", "evidence_link", "requirement_mapping", "risk"
]


class SuggestionProducer(BaseModel):
    """The machine that suggests, and the run in which it did."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    name: str
    version: str
    execution_id: UUID | None = None


class SuggestionTarget(BaseModel):
    """What a suggestion is about: a document, a requirement or the whole company."""

    model_config = _VALUE

    type: Literal["document", "requirement", "organization"]
    id: UUID
    field: str | None = None


class SuggestionSource(BaseModel):
    """Where a machine read it; its text is data, never markup or a link."""

    model_config = _VALUE

    document_id: UUID
    version: int
    page: int | None = None
    excerpt: str | None = Field(default=None, max_length=300)


class Suggested(BaseModel):
    """The suggestion that waits for a person now."""

    model_config = _VALUE

    suggestion_id: UUID
    status: str
    created: bool


class Suggestions(Port, name="compliance.suggestions", timeout=1.0):
    """Where machines bring what they think. The same key is taken once; silence: ask again.

    Without a source or a confidence a suggestion is refused.
    """

    @abstractmethod
    @idempotent
    async def propose(
        self,
        *,
        organization_id: UUID,
        key: str,
        kind: SuggestionKind,
        target: SuggestionTarget,
        proposed: dict[str, JsonValue],
        confidence: float,
        sources: list[SuggestionSource],
        produced_by: SuggestionProducer,
        base_version: int | None = None,
        guardrail_outcome: str | None = None,
    ) -> Suggested: ...


class SuggestionReviewed(Event, type="compliance.SuggestionReviewed.v1", subject="suggestion_id"):
    """A person decided a suggestion; `edited` if they changed the value first."""

    organization_id: UUID
    suggestion_id: UUID
    kind: str
    decision: str
    edited: bool
    confidence: float
    produced_by: SuggestionProducer
    field: str | None = None


EVENTS = (SuggestionReviewed,)
