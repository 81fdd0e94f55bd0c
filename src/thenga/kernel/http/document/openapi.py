"""The OpenAPI document: what FastAPI knows of the routes, made fit for a stranger to start with.

`docs/decisions/0030` says by which rules; tests/suites/openapi_lint.py holds them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted, Sensitivity
from thenga.kernel.http.document import excerpts, glossary, parameters, showing
from thenga.kernel.http.document.answers import is_paginated, share_answers
from thenga.kernel.http.document.components import schema_names
from thenga.kernel.http.document.operations import Operation, operations, tags
from thenga.kernel.http.document.schemas import by_format, closed_maps, renamed, without_titles

Json = dict[str, Any]

_INTRODUCTION = Path(__file__).parent / "assets" / "introduction.md"
_COMPONENTS = "#/components/"
_SCHEMAS = f"{_COMPONENTS}schemas/"
_FRAMEWORK_SCHEMAS = ("HTTPValidationError", "ValidationError")
_ACCEPTED = 202
_DEVELOPMENT = "http://127.0.0.1:8000"
_GRAVE = (Sensitivity.SENSITIVE, Sensitivity.ADMINISTRATION)
_FILE = {
    "description": "The bytes of the file.",
    "required": True,
    "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
}
_BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "An access token of a session (`tha_…`) or an API key (`thk_…`).",
}


def document(
    routes: Sequence[BaseRoute],
    domains: Sequence[Domain],
    *,
    base_url: str = _DEVELOPMENT,
    sandbox_url: str = "",
    examples: bool = True,
    domain: str | None = None,
) -> Json:
    """The document; `routes` are those of the application, or of `operations.mounted`.

    Without `examples` it is the lean one, which clients are made from. With a `domain` it has the
    operations of that domain, and the components that they lead to.
    """
    made = get_openapi(
        title="Thenga",
        version="1",
        summary="The procurement platform for small South African companies.",
        description=_INTRODUCTION.read_text(),
        routes=routes,
        servers=servers(base_url, sandbox_url),
        tags=[{"name": name, "description": text} for name, text in tags(domains).items()],
    )
    listed = [one for one in operations(domains) if one.path in made["paths"]]
    glossary.describe(made, listed)
    made = _named(made, routes)
    _describe(made, listed)
    parameters.share(made, listed)
    share_answers(made, listed)
    _drop_patch_defaults(made)
    if examples:
        showing.show(made, listed)
    if domain is None:
        return made
    return excerpts.of_operations(made, [one for one in listed if one.domain.name == domain])


def servers(base_url: str = _DEVELOPMENT, sandbox_url: str = "") -> list[Json]:
    """A sandbox is an organization of its own, mostly at the same address as the others."""
    sandbox = sandbox_url or base_url
    return [
        {"url": base_url.rstrip("/"), "description": "Live"},
        {"url": sandbox.rstrip("/"), "description": "Sandbox: keys of a sandbox organization"},
    ]


def _named(made: Json, routes: Sequence[BaseRoute]) -> Json:
    """The document with our names of schemas, and none that the framework made for itself."""
    components = made.setdefault("components", {})
    for name in _FRAMEWORK_SCHEMAS:
        components.setdefault("schemas", {}).pop(name, None)
    names = schema_names(routes, components["schemas"])
    schemas = {names[name]: schema for name, schema in components["schemas"].items()}
    for schema in schemas.values():
        without_titles(schema)
        by_format(schema)
        closed_maps(schema)
    components["schemas"] = dict(sorted(schemas.items()))
    components["securitySchemes"] = {"bearer": _BEARER}
    ours = {_SCHEMAS + old: _SCHEMAS + new for old, new in names.items()}
    changed: Json = renamed(made, ours)
    return changed


def _describe(made: Json, listed: Sequence[Operation]) -> None:
    """Each operation by its own name, with what its entrance and its permission mean."""
    for one in listed:
        operation = made["paths"][one.path][one.method.lower()]
        operation["operationId"] = one.id
        operation["summary"] = one.name.replace("_", " ").capitalize()
        operation |= _extensions(one)
        if one.door.entrance.streams:
            operation["requestBody"] = _FILE
        body = operation["responses"].get("422", {}).get("content", {}).get("application/json", {})
        if "HTTPValidationError" in str(body.get("schema", "")):
            del operation["responses"]["422"]  # ours is a problem; theirs is never sent
        for response in operation["responses"].values():
            for content in response.get("content", {}).values():
                without_titles(content.get("schema", {}))


def _extensions(one: Operation) -> Json:
    """What a client may want to know of an operation before it calls it."""
    door, entrance = one.door, one.door.entrance
    found: Json = {
        "x-paginated": is_paginated(door),
        "x-keyed": entrance.idempotent,
        "x-long-running": _ACCEPTED in (door.status_code, *door.responses),
    }
    if entrance.writing and entrance.permission is not None:
        found["x-if-match"] = "required" if entrance.requires_version else "optional"
    code = entrance.permission or entrance.known_by
    granted = {granted.code: granted for granted in one.domain.permissions}.get(code or "")
    if granted is not None:
        found |= _of_permission(granted)
    return {name: value for name, value in found.items() if value}


def _of_permission(granted: Granted) -> Json:
    return {
        "x-people-only": not granted.keys and Audience.SERVICE not in granted.audiences,
        "x-agents": granted.agents,
        "x-fresh-proof": granted.sensitivity in _GRAVE,
        "x-feature": granted.feature,
        "x-audience": [audience.value for audience in granted.audiences],
    }


def _drop_patch_defaults(made: Json) -> None:
    """What a merge patch leaves out stays as it is, so there is no default to state."""
    patched: set[tuple[str, str]] = set()
    other: set[tuple[str, str]] = set()
    for methods in made["paths"].values():
        for method, operation in methods.items():
            found = patched if method == "patch" else other
            found |= excerpts.reached(made, operation.get("requestBody", {}))
    for kind, name in patched - other:
        schema = made["components"][kind][name]
        for field in schema.get("properties", {}).values():
            field.pop("default", None)
