"""The OpenAPI document: what FastAPI knows of the routes, made fit for a stranger to start with."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http import examples
from thenga.kernel.http.examples import Example
from thenga.kernel.http.operations import operations, tags
from thenga.kernel.http.reference import PROBLEM_SCHEMA

Json = dict[str, Any]

_INTRODUCTION = Path(__file__).parent / "assets" / "introduction.md"
_PROBLEM = "application/problem+json"
_SCHEMAS = "#/components/schemas/"
_FRAMEWORK_SCHEMAS = ("HTTPValidationError", "ValidationError")
_BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "An access token of a session (`tha_…`) or an API key (`thk_…`).",
}


class SameSchema(TypeError):
    """Two models of one domain have one name, and a client would have one class for both."""


def document(
    routes: Sequence[BaseRoute], domains: Sequence[Domain], *, base_url: str = "/"
) -> Json:
    """The whole document; `routes` are those of the application, or of `operations.mounted`."""
    made = get_openapi(
        title="Thenga",
        version="1",
        summary="The procurement platform for small South African companies.",
        description=_INTRODUCTION.read_text(),
        routes=routes,
        servers=[{"url": base_url, "description": "This installation"}],
        tags=[{"name": name, "description": text} for name, text in tags(domains).items()],
    )
    _drop_framework_errors(made)
    components = made.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    components["securitySchemes"] = {"bearer": _BEARER}
    components["examples"] = _shared_problems(made)
    _name_operations(made, domains)
    _drop_patch_defaults(made)
    return _plainly_named(made)


def _operations_of(made: Json) -> Iterator[Json]:
    for methods in made.get("paths", {}).values():
        yield from methods.values()


def _drop_framework_errors(made: Json) -> None:
    """Our 422 is a Problem; FastAPI's own form of it is never sent."""
    for operation in _operations_of(made):
        responses = operation["responses"]
        schema = responses.get("422", {}).get("content", {}).get("application/json", {})
        if "HTTPValidationError" in str(schema.get("schema", "")):
            del responses["422"]
    for name in _FRAMEWORK_SCHEMAS:
        made.get("components", {}).get("schemas", {}).pop(name, None)


def _shared_problems(made: Json) -> Json:
    """Each problem's example once for all operations: said at every one, they are most of it."""
    shared: Json = {}
    for operation in _operations_of(made):
        for response in operation["responses"].values():
            content = response.get("content", {}).get(_PROBLEM)
            if content is None:
                continue
            shared |= content["examples"]
            content["examples"] = {
                code: {"$ref": f"#/components/examples/{code}"} for code in content["examples"]
            }
    return dict(sorted(shared.items()))


def _name_operations(made: Json, domains: Sequence[Domain]) -> None:
    recorded = {domain.name: examples.load(domain) for domain in domains}
    for one in operations(domains):
        operation = made["paths"].get(one.path, {}).get(one.method.lower())
        if operation is None:
            continue
        operation["operationId"] = one.name
        operation["summary"] = one.name.replace("_", " ").capitalize()
        for response in operation["responses"].values():
            if response.get("description") == "Successful Response":
                response["description"] = "Done."
        example = recorded[one.domain.name].get(one.name)
        if example is not None:
            _show(operation, example)


def _show(operation: Json, example: Example) -> None:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None and example["request"] is not None:
        body["example"] = example["request"]
    answers = {
        status: response["content"]["application/json"]
        for status, response in operation["responses"].items()
        if "application/json" in response.get("content", {})
    }
    shown = answers.get(str(example["status"]))
    if shown is None or example["response"] is None:
        return
    # A repeated call answers the same resource with another status.
    for answer in answers.values():
        if answer.get("schema") == shown.get("schema"):
            answer["example"] = example["response"]


def _drop_patch_defaults(made: Json) -> None:
    """What a merge patch leaves out stays as it is, so there is no default to state."""
    patched: set[str] = set()
    other: set[str] = set()
    for methods in made["paths"].values():
        for method, operation in methods.items():
            found = patched if method == "patch" else other
            found |= _reached(made, operation.get("requestBody", {}))
    for name in patched - other:
        for field in made["components"]["schemas"][name].get("properties", {}).values():
            field.pop("default", None)


def _reached(made: Json, part: Any) -> set[str]:
    """The names of the schemas that a part of the document leads to."""
    names: set[str] = set()
    waiting = [part]
    while waiting:
        for reference in _references(waiting.pop()):
            name = reference.removeprefix(_SCHEMAS)
            if reference.startswith(_SCHEMAS) and name not in names:
                names.add(name)
                waiting.append(made["components"]["schemas"][name])
    return names


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str):
            yield reference
        part = [*part.values()]
    if isinstance(part, list):
        for inner in part:
            yield from _references(inner)


def _plainly_named(made: Json) -> Json:
    """Two domains may each have an `AccountView`; theirs are `BillingAccountView` and so on."""
    schemas = made["components"]["schemas"]
    plain = {name: _plain(name) for name in schemas if "__" in name}
    if len({*plain.values(), *schemas}) < len(plain) + len(schemas):
        raise SameSchema(f"name these apart: {sorted(plain)}")
    made["components"]["schemas"] = {plain.get(name, name): s for name, s in schemas.items()}
    renamed: Json = _renamed(made, {_SCHEMAS + old: _SCHEMAS + new for old, new in plain.items()})
    return renamed


def _plain(name: str) -> str:
    """`thenga__domains__billing__api__accounts__AccountView` is the one of billing."""
    parts = name.split("__")
    return f"{parts[2].capitalize()}{parts[-1]}"


def _renamed(part: Any, names: dict[str, str]) -> Any:
    if isinstance(part, dict):
        return {key: _renamed(inner, names) for key, inner in part.items()}
    if isinstance(part, list):
        return [_renamed(inner, names) for inner in part]
    return names.get(part, part) if isinstance(part, str) else part
