"""Sample values for a schema, so that every event can be shown with an example."""

from typing import Any

_BY_FORMAT = {
    "uuid": "019a0000-0000-7000-8000-000000000001",
    "date-time": "2026-11-14T08:30:00Z",
    "date": "2026-11-14",
    "time": "08:30:00",
    "duration": "P30D",
    "email": "person1@example.com",
    "uri": "https://example.com",
}
_BY_TYPE: dict[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "null": None}


def sample(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """A value that fits the schema; the same one each time."""
    root = root if root is not None else schema
    if "$ref" in schema:
        return sample(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for given in ("const", "default"):
        if schema.get(given) is not None:
            return schema[given]
    for several in ("examples", "enum"):
        if schema.get(several):
            return schema[several][0]
    for either in ("anyOf", "oneOf", "allOf"):
        if either in schema:
            return sample(schema[either][0], root)
    kind = schema.get("type", "object")
    if kind == "object":
        named = schema.get("properties", {})
        return {name: sample(inner, root) for name, inner in named.items()}
    if kind == "array":
        return [sample(schema["items"], root)] if "items" in schema else []
    if kind == "string":
        return _BY_FORMAT.get(schema.get("format", ""), "text")
    return max(_BY_TYPE[kind], schema["minimum"]) if "minimum" in schema else _BY_TYPE[kind]
