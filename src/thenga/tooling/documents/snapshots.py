"""Schemas of events and ports as others already rely on them: an old one is never changed.

Prose is left out, so that a description can be improved; names, kinds and limits are compared.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.port import Port, methods
from thenga.kernel.events import catalogue
from thenga.kernel.standing.answered import answered_ports

Json = dict[str, Any]

_PROSE = ("title", "description", "examples")
_NAMED = ("properties", "$defs")  # below these stand names of fields, which may be `title` too


class Promised(Exception):
    """A schema that others rely on was changed."""


def event_schemas(domains: Sequence[Domain]) -> Json:
    """Each event type with the schema of its data."""
    return {kind: bare(schema) for kind, schema in sorted(catalogue.schemas(domains).items())}


def port_schemas(domains: Sequence[Domain]) -> Json:
    """Each method of each port, by its full name, with its arguments and its answer."""
    ports = {port.port_name: port for domain in domains for port in answered_ports(domain)}
    return {
        f"{name}.{method}": shape
        for name, port in sorted(ports.items())
        for method, shape in _methods(port).items()
    }


def refuse_changes(known: Mapping[str, Any], now: Mapping[str, Any], *, file: str) -> None:
    """Raise for each known schema that would be another; new ones and removed ones pass."""
    changed = [name for name in known if name in now and not _keeps(known[name], now[name])]
    if changed:
        raise Promised(
            f"{', '.join(changed)}: the schema differs from {file}. Others rely on it, so declare "
            "a new version (an event `.v2`, a port method of another name). If it was never "
            "released, take its entry out of that file and run `thenga docs`."
        )


def bare(schema: Any) -> Any:
    """The schema without prose."""
    if isinstance(schema, list):
        return [bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: bare(inner) for name, inner in value.items()} if key in _NAMED else bare(value)
        for key, value in sorted(schema.items())
        if key not in _PROSE
    }


def _methods(port: type[Port]) -> Json:
    return {
        name: {
            "arguments": bare(shape.call.json_schema(by_alias=False)),
            "answer": bare(shape.answer.json_schema(by_alias=False, mode="serialization")),
        }
        for name, shape in methods(port).items()
    }


def _keeps(known: Json, now: Json) -> bool:
    """Whether whoever relies on the known schema is still served."""
    if "arguments" not in known:
        return known == now
    return bool(known["answer"] == now["answer"]) and _takes_more(
        known["arguments"], now["arguments"]
    )


def _takes_more(known: Json, now: Json) -> bool:
    """The same arguments, or more of which the new ones may be left out."""
    before, after = _arguments(known), _arguments(now)
    kept = {name: after["properties"].get(name) for name in before["properties"]}
    definitions = now.get("$defs", {})
    others = {n: d for n, d in known.get("$defs", {}).items() if n != "arguments"}
    return (
        kept == before["properties"]
        and set(after.get("required", [])) <= set(before.get("required", []))
        and all(definitions.get(name) == schema for name, schema in others.items())
    )


def _arguments(call: Json) -> Json:
    found: Json = call["$defs"]["arguments"]
    return {"properties": {}} | found
