"""The examples of the full API document: recorded exchanges, and each problem once."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from thenga.kernel.http.document import examples, refusals
from thenga.kernel.http.document.examples import Example
from thenga.kernel.http.document.operations import Operation
from thenga.kernel.http.problems import MEDIA_TYPE
from thenga.kernel.http.reference import PROBLEMS as CODES

Json = dict[str, Any]

_JSON = "application/json"


def show(made: Json, listed: Sequence[Operation]) -> None:
    """Add to the document what was recorded; an answer with an example is the operation's own."""
    _show_problems(made)
    recorded = {one.domain.name: one.domain for one in listed}
    loaded = {name: examples.load(domain) for name, domain in recorded.items()}
    for one in listed:
        example = loaded[one.domain.name].get(one.name)
        if example is not None:
            _show(made, made["paths"][one.path][one.method.lower()], example)


def _show_problems(made: Json) -> None:
    codes: set[str] = set()
    for response in made["components"]["responses"].values():
        if CODES in response:
            codes.update(response[CODES])
            shown = response["content"][MEDIA_TYPE]
            shown["examples"] = {
                code: {"$ref": f"#/components/examples/{code}"} for code in response[CODES]
            }
    made["components"]["examples"] = refusals.examples(codes)


def _show(made: Json, operation: Json, example: Example) -> None:
    body = operation.get("requestBody", {}).get("content", {}).get(_JSON)
    if body is not None and example["request"] is not None:
        body["example"] = example["request"]
    answers = {
        status: response
        for status, response in operation["responses"].items()
        if _JSON in _resolved(made, response).get("content", {})
    }
    shown = answers.get(str(example["status"]))
    if shown is None or example["response"] is None:
        return
    schema = _resolved(made, shown)["content"][_JSON].get("schema")
    # A repeated call answers the same resource with another status.
    for status, answer in answers.items():
        content = _resolved(made, answer)["content"][_JSON]
        if content.get("schema") == schema:
            own = deepcopy(_resolved(made, answer))
            own["content"][_JSON].pop("examples", None)
            own["content"][_JSON]["example"] = example["response"]
            operation["responses"][status] = own


def _resolved(made: Json, response: Json) -> Json:
    reference = response.get("$ref")
    if reference is None:
        return response
    found: Json = made["components"]["responses"][reference.rpartition("/")[2]]
    return found
