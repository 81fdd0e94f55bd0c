"""Schemas of the OpenAPI document as tables of fields for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from thenga.kernel.http.document.markup import inline, table

Json = dict[str, Any]

_DEEPEST = 4  # a schema that holds itself ends there
_LONGEST_LIST = 12  # members of an enum that are shown


@dataclass(frozen=True)
class _Field:
    name: str
    kind: str
    is_required: bool
    meaning: str


def resolve(made: Json, part: Json) -> Json:
    """What a `$ref` stands for; anything else as it is."""
    while "$ref" in part:
        place: Any = made
        for step in part["$ref"].removeprefix("#/").split("/"):
            place = place[step]
        part = {**place, **{name: value for name, value in part.items() if name != "$ref"}}
    return part


def fields_table(made: Json, schema: Json, *, request: bool) -> str:
    """Every field of a schema with its path, as `lines[].amount`."""
    rows = "".join(
        f"<tr><td><code>{escape(each.name)}</code>{_mark(each, request=request)}</td>"
        f"<td>{escape(each.kind)}</td><td>{inline(each.meaning)}</td></tr>"
        for each in _fields(made, schema, "", 0)
    )
    return table(("Field", "Kind", "Meaning"), rows) if rows else ""


def _mark(field: _Field, *, request: bool) -> str:
    return ' <b class="required">required</b>' if request and field.is_required else ""


def _fields(made: Json, schema: Json, before: str, depth: int) -> Iterator[_Field]:
    schema = resolve(made, schema)
    for branch in _branches(schema):
        yield from _fields(made, branch, before, depth)
    if schema.get("type") == "array":
        yield from _fields(made, schema.get("items", {}), f"{before}[]", depth)
    for name, field in schema.get("properties", {}).items():
        path = f"{before}.{name}" if before else name
        known = resolve(made, field)
        is_required = name in schema.get("required", ())
        yield _Field(path, kind(made, field), is_required, known.get("description", ""))
        if depth < _DEEPEST and name not in before.replace("[]", "").split("."):
            yield from _fields(made, field, path, depth + 1)


def _branches(schema: Json) -> list[Json]:
    found = [*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return [each for each in found if each.get("type") != "null"]


def kind(made: Json, schema: Json) -> str:
    """What a value is, in words: `text, 1 to 160 characters`."""
    schema = resolve(made, schema)
    if found := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        kinds = [kind(made, each) for each in found]
        return " or ".join(dict.fromkeys(kinds))
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        members = [str(each) for each in schema["enum"]]
        more = ["…"] if len(members) > _LONGEST_LIST else []
        return ", ".join(members[:_LONGEST_LIST] + more)
    if schema.get("type") == "array":
        return f"list of {kind(made, schema.get('items', {}))}"
    return _plain(schema)


_WORDS = {"string": "text", "object": "object", "integer": "integer", "boolean": "true or false"}


_LONG = 10_000


def _plain(schema: Json) -> str:
    base = str(schema.get("format") or schema.get("type", "any"))
    told = _WORDS.get(base, base)
    for least, most, unit in (
        ("minLength", "maxLength", " characters"),
        ("minimum", "maximum", ""),
    ):
        low, high = schema.get(least), schema.get(most)
        if high is not None:
            told += f", {_number(low or 0)} to {_number(high)}{unit}"
        elif low:
            told += f", at least {_number(low)}{unit}"
    return told


def _number(value: float) -> str:
    # A year is not written with a comma.
    return f"{value:.10g}" if abs(value) < _LONG else f"{value:,.10g}"
