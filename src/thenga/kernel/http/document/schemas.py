"""JSON schemas of the API document, gone through in place.

A property may be called `title` or `examples`, so the walk knows where names stand and where
schemas do.
"""

from collections.abc import Iterator
from typing import Any

from thenga.kernel.values.money import AMOUNT_PATTERN

Json = dict[str, Any]

_NAMED = ("properties", "patternProperties", "$defs")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "contains", "propertyNames")
_NULL = {"type": "null"}


def inner(schema: Json) -> Iterator[Json]:
    """A schema and all that are written inside it."""
    yield schema
    for key in _NAMED:
        for one in schema.get(key, {}).values():
            yield from inner(one)
    for key in _LISTED:
        for one in schema.get(key, ()):
            yield from inner(one)
    for key in _SINGLE:
        if isinstance(schema.get(key), dict):
            yield from inner(schema[key])


def without_titles(schema: Json) -> None:
    """Take out the titles that are made from names; two models would collide in them."""
    for one in inner(schema):
        one.pop("title", None)


def by_format(schema: Json) -> None:
    """Say amounts of money by a format; events were released with the pattern and keep it."""
    for one in inner(schema):
        if one.get("pattern") == AMOUNT_PATTERN:
            one["format"] = "decimal"
            del one["pattern"]


def closed_maps(schema: Json) -> None:
    """A map whose names follow a pattern has no other names; we refuse them."""
    for one in inner(schema):
        if "patternProperties" in one:
            one.setdefault("additionalProperties", False)


def without_null(schema: Json) -> Json:
    """A schema that is left out where there is nothing to say; nobody can write null there."""
    kinds = schema.get("anyOf")
    if not kinds or _NULL not in kinds:
        return schema
    left = [one for one in kinds if one != _NULL]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**left[0], **rest} if len(left) == 1 else {**rest, "anyOf": left}


def renamed(part: Any, names: dict[str, str]) -> Any:
    """The part with every text that is a name of `names` in its new form."""
    if isinstance(part, dict):
        return {key: renamed(one, names) for key, one in part.items()}
    if isinstance(part, list):
        return [renamed(one, names) for one in part]
    return names.get(part, part) if isinstance(part, str) else part
