"""The OpenAPI document: what FastAPI knows of the routes, made fit for a stranger to start with."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from thenga.kernel.http import examples
from thenga.kernel.http.examples import Example
from thenga.kernel.http.operations import operations, tags
from thenga.kernel.http.reference import PROBLEM_SCHEMA
from thenga.kernel.manifest import Domain

Json = dict[str, Any]

_INTRODUCTION = Path(__file__).parent / "assets" / "introduction.md"
_PROBLEM = "application/problem+json"
_FRAMEWORK_SCHEMAS = ("HTTPValidationError", "ValidationError")
_BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "An access token of a session (`tha_…`) or an API key (`thk_…`).",
}


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
    return made


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
    response = operation["responses"].get(str(example["status"]), {})
    answer = response.get("content", {}).get("application/json")
    if answer is not None and example["response"] is not None:
        answer["example"] = example["response"]
