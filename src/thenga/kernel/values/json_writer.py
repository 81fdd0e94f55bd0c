"""Views and events as JSON: the text that pydantic writes (held by a test), in less time."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel, TypeAdapter

_JSON = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS

# How each class is written that orjson does not know; made when it is first met.
_WRITERS: dict[type, Callable[[Any], object]] = {}


def to_json(result: object) -> bytes:
    """What a route answered, or an event, as JSON."""
    return orjson.dumps(result, default=_wire, option=_JSON)


def _wire(value: Any) -> object:
    writer = _WRITERS.get(type(value))
    if writer is None:
        writer = _WRITERS[type(value)] = _writer(type(value))
    return writer(value)


def _writer(kind: type) -> Callable[[Any], object]:
    """Views by their wire names, the driver's UUIDs as text; all else says itself how."""
    if issubclass(kind, UUID):
        return str
    if not issubclass(kind, BaseModel):
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        return lambda value: adapter.dump_python(value, mode="json", by_alias=True)
    fields = kind.model_fields
    names = tuple(field.serialization_alias or name for name, field in fields.items())
    if len(fields) == 1:  # an itemgetter of one name gives the value and not a tuple
        (only,), (name,) = fields, names
        return lambda view: {name: view.__dict__[only]}
    pick = itemgetter(*fields)
    return lambda view: dict(zip(names, pick(view.__dict__), strict=False))
