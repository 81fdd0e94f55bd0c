"""Descriptions by name: what a field or parameter is, said once for all models that have it.

A model describes a field itself where it differs. All else is in `content/descriptions.json` of the
domain, by `Schema.field` or `field`, and for names of every domain in `assets/` here.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.document import excerpts
from thenga.kernel.http.document.operations import Operation

Json = dict[str, Any]
Key = tuple[str, str, str]  # owner; schemas, fields or parameters; and the name

SHARED = "kernel"
_SHARED_FILE = Path(__file__).parent / "assets" / "descriptions.json"
_SCHEMAS = "#/components/schemas/"


def describe(made: Json, listed: Sequence[Operation]) -> set[Key]:
    """Give a description to whatever has none yet, before schemas get the names of the contract;
    returns the entries that were used."""
    words = _Words(list({one.domain.name: one.domain for one in listed}.values()))
    owners = owners_of_schemas(made, listed)
    for name, schema in made["components"]["schemas"].items():
        words.describe_schema(owners.get(name, SHARED), name, schema)
    for one in listed:
        operation = made["paths"][one.path][one.method.lower()]
        for parameter in operation.get("parameters", []):
            if "$ref" not in parameter:
                name = parameter["name"]
                words.add(parameter, one.domain.name, "parameters", (f"{one.name}.{name}", name))
    return words.used


def entries(domains: Sequence[Domain]) -> set[Key]:
    """Every entry of the files, for a test that none is left over."""
    words = _Words(domains)
    return {
        (owner, section, name)
        for owner, sections in words.known.items()
        for section, named in sections.items()
        for name in named
    }


def owners_of_schemas(made: Json, listed: Sequence[Operation]) -> dict[str, str]:
    """Each schema with the one domain that uses it, or the kernel where several do."""
    owners = {one.path: one.domain.name for one in listed}
    leads = {name: _references(schema) for name, schema in made["components"]["schemas"].items()}
    found: dict[str, str] = {}
    for path, part in made["paths"].items():
        waiting, reached = _references(part), set[str]()
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting |= leads[name]
        for name in reached:
            other = found.setdefault(name, owners[path])
            found[name] = other if other == owners[path] else SHARED
    return found


class _Words:
    """The entries of all files, and which of them were used."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        files = {domain.name: domain.home / "content" / "descriptions.json" for domain in domains}
        self.known = {SHARED: _read(_SHARED_FILE)} | {n: _read(file) for n, file in files.items()}
        self.used: set[Key] = set()

    def describe_schema(self, owner: str, name: str, schema: Json) -> None:
        # `PageOf_RoleView_` is a `PageOf`; a class that two domains have is named with its module.
        generic = "PageOf" if "PageOf" in name else name
        names = tuple(dict.fromkeys((name.rpartition("__")[2], generic)))
        self.add(schema, owner, "schemas", names)
        for place, field, part in _fields(schema):
            full = tuple(f"{one}{place}.{field}" for one in names)
            self.add(part, owner, "fields", (*full, field))

    def add(self, part: Json, owner: str, section: str, names: Sequence[str]) -> None:
        if part.get("description"):
            return
        for key in [(who, section, name) for who in (owner, SHARED) for name in names]:
            text = self.known[key[0]].get(section, {}).get(key[2])
            if text is not None:
                part["description"] = text
                self.used.add(key)
                return


def _fields(schema: Json, place: str = "") -> Iterator[tuple[str, str, Json]]:
    """Every field of a schema, those of an object or list inside it by their place too."""
    for name, part in schema.get("properties", {}).items():
        yield place, name, part
        yield from _fields(part, f"{place}.{name}")
        yield from _fields(part.get("items", {}), f"{place}.{name}")


def _references(part: object) -> set[str]:
    """The names of the schemas that a part of the document refers to."""
    found = excerpts.references(part)
    return {one.removeprefix(_SCHEMAS) for one in found if one.startswith(_SCHEMAS)}


@cache
def _read(path: Path) -> dict[str, dict[str, str]]:
    if not path.exists():
        return {}
    found: dict[str, dict[str, str]] = json.loads(path.read_text())
    return found
