"""Parts of the OpenAPI document: some operations, with the components that they lead to."""

from collections.abc import Iterator, Sequence
from typing import Any

from thenga.kernel.http.document.operations import Operation

Json = dict[str, Any]

_COMPONENTS = "#/components/"
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def of_operations(made: Json, kept: Sequence[Operation]) -> Json:
    """These operations, their tags, and the components that they lead to."""
    wanted = {(one.path, one.method.lower()) for one in kept}
    paths: Json = {}
    for path, methods in made["paths"].items():
        # Beside its methods a path may hold what is said of all of them.
        shared = {name: each for name, each in methods.items() if name not in _METHODS}
        found = {name: each for name, each in methods.items() if (path, name) in wanted}
        if found:
            paths[path] = shared | found
    tags = {
        tag
        for methods in paths.values()
        for name, each in methods.items()
        if name in _METHODS
        for tag in each.get("tags", ())
    }
    return made | {
        "paths": paths,
        "components": _components(made, paths),
        "tags": [tag for tag in made.get("tags", ()) if tag["name"] in tags],
    }


def reached(made: Json, part: Any) -> set[tuple[str, str]]:
    """The components that a part of the document leads to, by kind and name."""
    names: set[tuple[str, str]] = set()
    waiting = [part]
    while waiting:
        for reference in references(waiting.pop()):
            kind, _, name = reference.removeprefix(_COMPONENTS).partition("/")
            if reference.startswith(_COMPONENTS) and (kind, name) not in names:
                names.add((kind, name))
                waiting.append(made["components"][kind][name])
    return names


def _components(made: Json, part: Any) -> Json:
    names = reached(made, part)
    components = made["components"]
    kept = {
        kind: {name: each for name, each in parts.items() if (kind, name) in names}
        for kind, parts in components.items()
        if kind != "securitySchemes"
    }
    schemes = {"securitySchemes": components.get("securitySchemes", {})}
    return {kind: parts for kind, parts in (kept | schemes).items() if parts}


def references(part: Any) -> Iterator[str]:
    """Every `$ref` of a part, and what a discriminator maps to."""
    if isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str):
            yield reference
        mapping = part.get("mapping")
        if isinstance(mapping, dict) and "propertyName" in part:
            yield from (each for each in mapping.values() if isinstance(each, str))
        part = [*part.values()]
    if isinstance(part, list):
        for inner in part:
            yield from references(inner)
