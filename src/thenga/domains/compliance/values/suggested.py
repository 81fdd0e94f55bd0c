"""The values that a machine may propose, by kind; a person's edit has the same form (CMP-36)."""

from datetime import date
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

_FORM = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)
_Short = Annotated[str, Field(min_length=1, max_length=160)]


class SuggestedFacts(BaseModel):
    """What a paper says."""

    model_config = _FORM

    issued_on: date | None = None
    expires_on: date | None = None
    number: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    issuer: _Short | None = None
    holder_name: _Short | None = None
    period: Annotated[str, Field(min_length=1, max_length=20)] | None = None
    attributes: dict[str, Any] | None = None


class SuggestedType(BaseModel):
    """Which kind of paper it is."""

    model_config = _FORM

    document_type_code: Annotated[str, Field(min_length=1, max_length=60)]


class SuggestedLink(BaseModel):
    """Which requirements a paper proves."""

    model_config = _FORM

    requirement_ids: Annotated[list[UUID], Field(min_length=1, max_length=50)]


class SuggestedMapping(BaseModel):
    """Which definition of the catalogue a requirement means."""

    model_config = _FORM

    definition_code: Annotated[str, Field(min_length=1, max_length=60)]


class SuggestedRisk(BaseModel):
    """A risk that nobody has written down."""

    model_config = _FORM

    title: _Short
    category: Annotated[str, Field(min_length=1, max_length=60)] = "suggested"
    likelihood: Annotated[int, Field(ge=1, le=5)]
    impact: Annotated[int, Field(ge=1, le=5)]


FORMS: dict[str, type[BaseModel]] = {
    "document_facts": SuggestedFacts,
    "document_type": SuggestedType,
    "evidence_link": SuggestedLink,
    "requirement_mapping": SuggestedMapping,
    "risk": SuggestedRisk,
}
TARGETS = {
    "document_facts": "document",
    "document_type": "document",
    "evidence_link": "document",
    "requirement_mapping": "requirement",
    "risk": "organization",
}


def read_value(kind: str, value: dict[str, Any]) -> dict[str, Any]:
    """The named fields of a value, typed; raises `pydantic.ValidationError` on another form."""
    return FORMS[kind].model_validate(value).model_dump(exclude_unset=True)
