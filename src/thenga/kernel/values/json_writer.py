"""Views and events as JSON: the text that pydantic writes (held by a test), in less time.

Each view class has a msgspec struct with the same fields under their wire names, made when the
class is first met. A view's values are put into it by position, and msgspec writes it without
calling back for every identifier and name.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import msgspec
from pydantic import BaseModel, TypeAdapter

# How each class is written that msgspec does not know; made when it is first met.
_WRITERS: dict[type, Callable[[Any], object]] = {}


def to_json(result: object) -> bytes:
    """What a route answered, or an event, as JSON."""
    return _ENCODER.encode(result)


def _wire(value: Any) -> object:
    writer = _WRITERS.get(type(value))
    if writer is None:
        writer = _WRITERS[type(value)] = _writer(type(value))
    return writer(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_wire)


def _writer(kind: type) -> Callable[[Any], object]:
    """Views by their wire names; all else says itself how."""
    if not issubclass(kind, BaseModel):
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        return lambda value: adapter.dump_python(value, mode="json", by_alias=True)
    fields = kind.model_fields
    names = {name: field.serialization_alias or name for name, field in fields.items()}
    # Untracked by the garbage collector: a struct lives only while it is written.
    struct = msgspec.defstruct(
        kind.__name__, [(name, Any) for name in fields], rename=names, gc=False
    )
    if len(fields) == 1:  # an itemgetter of one name gives the value and not a tuple
        (only,) = fields
        return lambda view: struct(view.__dict__[only])
    pick = itemgetter(*fields)
    return lambda view: struct(*pick(view.__dict__))
