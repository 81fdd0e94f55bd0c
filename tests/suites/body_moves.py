"""The moves that callers ask for by `move` in a body."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from thenga.kernel.http.document.operations import Operation


def moves_of_body(operation: Operation) -> Iterator[str]:
    """The values of `move` that the body of an operation takes."""
    for annotation in get_type_hints(operation.function).values():
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            field = annotation.model_fields.get("move")
            yield from _literals(field.annotation) if field else ()


def _literals(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif isinstance(annotation, type) and issubclass(annotation, StrEnum):
        yield from annotation
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from _literals(annotation.model_fields["verb"].annotation)
    else:
        for part in get_args(annotation):
            yield from _literals(part)
