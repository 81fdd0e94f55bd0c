"""Views and events as JSON: the text that pydantic writes (held by a test), in less time."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel, TypeAdapter

_JSON = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS

# How a class of view is written: the names on the wire, and how to take the values.
_PLANS: dict[type, tuple[tuple[str, ...], Callable[[dict[str, Any]], Any]]] = {}
_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def to_json(result: object) -> bytes:
    """What a route answered, as JSON."""
    return orjson.dumps(result, default=_wire, option=_JSON)


def _wire(value: object) -> object:
    """What orjson does not know: views by their wire names, the driver's UUIDs, all else as is."""
    plan = _PLANS.get(type(value))
    if plan is not None:
        return dict(zip(plan[0], plan[1](value.__dict__), strict=True))
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, BaseModel):
        names, pick = _PLANS[type(value)] = _plan(type(value))
        return dict(zip(names, pick(value.__dict__), strict=True))
    # Money, decimals and the like say themselves how they are written.
    adapter = _ADAPTERS.get(type(value))
    if adapter is None:
        adapter = _ADAPTERS[type(value)] = TypeAdapter(type(value))
    return adapter.dump_python(value, mode="json", by_alias=True)


def _plan(model: type[BaseModel]) -> tuple[tuple[str, ...], Callable[[dict[str, Any]], Any]]:
    fields = model.model_fields
    names = tuple(field.serialization_alias or name for name, field in fields.items())
    if len(fields) == 1:  # an itemgetter of one name gives the value and not a tuple
        (only,) = fields
        return names, lambda values: (values[only],)
    return names, itemgetter(*fields)
