"""The answers of operations in the API document: headers, and what a success looks like."""

from collections.abc import Iterable
from typing import Any

from thenga.kernel.errors import Problem
from thenga.kernel.http.bodies import PageOf
from thenga.kernel.http.document import refusals
from thenga.kernel.http.document.operations import Operation
from thenga.kernel.http.doors import Door
from thenga.kernel.http.reference import PROBLEMS as CODES
from thenga.kernel.http.reference import has_version

Json = dict[str, Any]

_RESPONSES = "#/components/responses/"
_SCHEMAS = "#/components/schemas/"
_JSON = "application/json"
_CREATED, _ACCEPTED = "201", "202"
_DESCRIBED = {"200": "Success.", "201": "Created.", "202": "Accepted.", "204": "Success."}
_EMPTY = {"204": "NoContent", "304": "NotModified"}
_AS = {"201": "Created", "202": "Accepted"}


def _header(description: str, **schema: Any) -> Json:
    return {"description": description, "schema": {"type": "string", **schema}}


HEADERS: Json = {
    "Deprecation": _header("Date from which the operation is deprecated (RFC 9745)."),
    "ETag": _header("Version of the resource. Send it as `If-Match` with a change."),
    "Idempotency-Replayed": _header(
        "`true` if this is the stored response of an earlier request with the same key."
    ),
    "Link": _header('Address of the next page with `rel="next"`. Absent on the last page.'),
    "Location": _header("Address of the resource.", format="uri-reference"),
    "RateLimit": _header("Requests left in the current window, and its remaining seconds."),
    "RateLimit-Policy": _header("Requests allowed per window, and its length in seconds."),
    "Retry-After": {
        "description": "Seconds to wait before the next attempt.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "Sunset": _header("Date on which the operation is removed (RFC 8594)."),
    "WWW-Authenticate": _header("Accepted authentication scheme."),
    "X-Request-Id": _header("ID of the request: the one you sent, or a generated one."),
}


def is_paginated(door: Door) -> bool:
    """Whether a route answers with a page of a list."""
    model = door.response_model
    return isinstance(model, type) and issubclass(model, PageOf)


def share_answers(made: Json, listed: Iterable[Operation]) -> None:
    """Put every answer that several operations could give among the components."""
    shared: Json = {}
    kinds: set[type[Problem]] = set()
    for one in listed:
        operation = made["paths"][one.path][one.method.lower()]
        responses = operation["responses"] = dict(sorted(operation["responses"].items()))
        for status, response in responses.items():
            told = response.get(CODES)
            if told:
                refused = [one.door.problems[code] for code in sorted(told)]
                kinds.update(refused)
                responses[status] = _kept(shared, refused)
            else:
                responses[status] = _success(shared, one, status, response)
    components = made["components"]
    components["responses"] = dict(sorted(shared.items()))
    components["headers"] = HEADERS
    components["schemas"] |= refusals.schemas(kinds)


def _kept(shared: Json, kinds: list[type[Problem]]) -> Json:
    name = refusals.response_name(kinds)
    if name not in shared:
        shared[name] = refusals.response(kinds)
    return {"$ref": _RESPONSES + name}


def _success(shared: Json, one: Operation, status: str, response: Json) -> Json:
    if response.get("description", "Successful Response") == "Successful Response":
        response["description"] = _DESCRIBED.get(status, "Done.")
    response["headers"] = refusals.header_references(*_headers_of(one.door, status))
    name = _name_of(one.door, status, response)
    if name is None:
        return response
    if shared.setdefault(name, response) != response:
        return response  # said in words of its own
    return {"$ref": _RESPONSES + name}


def _headers_of(door: Door, status: str) -> list[str]:
    found = ["X-Request-Id"]
    if has_version(door.response_model):
        found.append("ETag")
    if status in (_CREATED, _ACCEPTED):
        found.append("Location")
    if is_paginated(door):
        found.append("Link")
    if door.entrance.idempotent and status != "304":
        found.append("Idempotency-Replayed")
    if door.deprecated:
        found += ["Deprecation", "Sunset"]
    return found


def _name_of(door: Door, status: str, response: Json) -> str | None:
    """What an answer is called, by its schema and its headers; None where it is one of a kind."""
    keyed = "Keyed" if door.entrance.idempotent else ""
    if door.deprecated:
        return None
    if status in _EMPTY:
        tagged = "Tagged" if has_version(door.response_model) and status != "304" else ""
        return None if response.get("content") else _EMPTY[status] + tagged + keyed
    schema = response.get("content", {}).get(_JSON, {}).get("schema", {})
    if list(response.get("content", {})) != [_JSON] or not schema.get("$ref"):
        return None
    return str(schema["$ref"]).removeprefix(_SCHEMAS) + _AS.get(status, "Answer") + keyed
