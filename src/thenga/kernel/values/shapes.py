"""Shapes: values of several fields that stand in requests, in answers and in JSON columns alike."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    """A value of several fields, such as a place with its radius; it is frozen.

    On the wire it has its wire names alone, because bodies are read by alias; in rows and in code
    it has its own names. Its schema is the same in requests and in answers. A bound of a shape
    that rows hold is tightened only together with a migration of these rows.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


def as_document(model: BaseModel) -> dict[str, Any]:
    """A model as rows and the audit trail keep it: under its own names, as plain JSON values."""
    return model.model_dump(mode="json", by_alias=False)
