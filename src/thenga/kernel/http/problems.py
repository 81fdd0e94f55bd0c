"""Refusals on the wire: RFC 9457, and the faults of others turned into refusals of ours."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from http import HTTPStatus
from typing import Any, get_args

import asyncpg
import orjson
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pydantic_core.core_schema import ErrorType
from starlette.exceptions import HTTPException
from starlette.responses import Response

from thenga.kernel import errors
from thenga.kernel.errors import Problem, RuleViolated, ValidationFailed

MEDIA_TYPE = "application/problem+json"

_MOST_ERRORS = 50
_LONGEST_NAME = 64


class Retryable(Problem):
    """Other requests changed the same resource at the same time. Send the request again."""

    code, status, title = "concurrent-change", 409, "Another request changed this"


def render(problem: Problem, *, request_id: str, instance: str, base_url: str) -> Response:
    """The answer that tells a problem; `instance` is the path, never the query."""
    body = {
        **problem.facts,
        "type": f"{base_url.rstrip('/')}/problems/{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "instance": instance,
        "code": problem.code,
        "requestId": request_id,
    }
    content = orjson.dumps(body, default=_wire, option=orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS)
    return Response(content, problem.status, _headers(problem), MEDIA_TYPE)


def _headers(problem: Problem) -> dict[str, str]:
    headers = {"cache-control": "no-store"}
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["retry-after"] = "1"
    return headers | {name.lower(): value for name, value in problem.headers.items()}


def _wire(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"a fact of a problem cannot be a {type(value).__name__}")


def from_database(error: BaseException) -> Problem | None:
    """What an error of PostgreSQL means to the caller; None where it is a defect of ours."""
    cause = getattr(error, "orig", None) or error  # SQLAlchemy wraps
    cause = cause if getattr(cause, "sqlstate", None) else (cause.__cause__ or cause)
    state = getattr(cause, "sqlstate", None)
    # After a migration a prepared statement fails once inside a transaction and never again.
    if isinstance(cause, asyncpg.InvalidCachedStatementError):
        return Retryable(headers={"Retry-After": "1"})
    if isinstance(cause, ConnectionError):
        return errors.DependencyUnavailable(dependency="database", headers={"Retry-After": "1"})
    return _from_state(state) if isinstance(state, str) else None


def _from_state(state: str) -> Problem | None:
    match state[:2]:
        case "22":
            return ValidationFailed("A value is outside the range that can be stored.")
        case "23":
            return errors.Conflict()
        case "40":
            return Retryable(headers={"Retry-After": "1"})
        case "08" | "53" | "57":
            return errors.DependencyUnavailable(dependency="database", headers={"Retry-After": "1"})
        case _ if state == "55P03":  # a lock was not given in time
            return Retryable(headers={"Retry-After": "1"})
        case _:
            return None


def of_error(error: BaseException) -> Problem | None:
    """What the caller is told of an exception; None where it is a defect of ours."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        return from_validation(error)
    if isinstance(error, HTTPException):
        return from_http(error)
    if _went_away(error):
        return errors.DependencyUnavailable(dependency="database", headers={"Retry-After": "1"})
    return from_database(error)


def _went_away(error: BaseException) -> bool:
    """Whether the connection went away under us; other interface errors are defects."""
    if isinstance(error, asyncpg.InternalClientError):
        return True  # the server has said that it ends this connection, and has not closed it yet
    told = str(error)
    return isinstance(error, asyncpg.InterfaceError) and ("closed" in told or "released" in told)


def from_http(error: HTTPException) -> Problem:
    """What the framework refuses by itself: no such path, no such method, an unreadable body."""
    headers = dict(error.headers or {})
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return errors.NotFound(headers=headers)
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return errors.MethodNotAllowed(headers=headers)
        case HTTPStatus.UNAUTHORIZED:
            return errors.Unauthenticated(headers=headers)
        case HTTPStatus.FORBIDDEN:
            return errors.Forbidden(headers=headers)
        case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return errors.TooLarge(headers=headers)
        case HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
            return errors.UnsupportedMediaType(headers=headers)
        case status if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return errors.MalformedRequest(headers=headers)
        case _:
            return errors.InternalError(headers=headers)


# What pydantic found, told to a person. The names in braces are bounds of the schema; what was
# sent is never repeated, for it may be a password. A type that is not here and is pydantic's own
# gets the general sentence; a validator of ours that wants to be heard raises PydanticCustomError.
_GENERAL = "This value is not valid."
_SENTENCES = {
    "missing": "This is required.",
    "extra_forbidden": "This field does not exist here. Remove it or check the spelling.",
    "json_invalid": "This is not well-formed JSON.",
    "string_type": "Send a string.",
    "string_too_short": "Use at least {min_length} characters.",
    "string_too_long": "Use at most {max_length} characters.",
    "string_pattern_mismatch": "This does not match the format that the operation describes.",
    "int_type": "Send an integer.",
    "int_parsing": "Send an integer.",
    "int_from_float": "Send an integer.",
    "float_type": "Send a number.",
    "float_parsing": "Send a number.",
    "decimal_type": "Send a decimal number as a string.",
    "decimal_parsing": "Send a decimal number as a string.",
    "decimal_max_digits": "Use at most {max_digits} digits.",
    "decimal_max_places": "Use at most {decimal_places} decimal places.",
    "finite_number": "Send a finite number.",
    "bool_type": "Send true or false.",
    "bool_parsing": "Send true or false.",
    "greater_than": "This must be more than {gt}.",
    "greater_than_equal": "This must be {ge} or more.",
    "less_than": "This must be less than {lt}.",
    "less_than_equal": "This must be {le} or less.",
    "multiple_of": "This must be a multiple of {multiple_of}.",
    "enum": "Use one of: {expected}.",
    "literal_error": "Use one of: {expected}.",
    "union_tag_invalid": "Use one of: {expected_tags}.",
    "union_tag_not_found": "Set the field that selects the type.",
    "uuid_type": "Send a UUID.",
    "uuid_parsing": "Send a UUID.",
    "date_type": "Send a date like 2026-11-14.",
    "date_parsing": "Send a date like 2026-11-14.",
    "date_from_datetime_parsing": "Send a date like 2026-11-14.",
    "datetime_type": "Send a timestamp like 2026-11-14T08:30:00Z.",
    "datetime_parsing": "Send a timestamp like 2026-11-14T08:30:00Z.",
    "datetime_from_date_parsing": "Send a timestamp like 2026-11-14T08:30:00Z.",
    "timezone_aware": "Include the time zone, like 2026-11-14T08:30:00Z.",
    "list_type": "Send a list.",
    "dict_type": "Send an object.",
    "model_type": "Send an object.",
    "model_attributes_type": "Send an object.",
    "too_short": "Send at least {min_length} items.",
    "too_long": "Send at most {max_length} items.",
    "url_parsing": "Send a URL.",
    "url_scheme": "Send a URL that starts with one of: {expected_schemes}.",
}
_OF_PYDANTIC: frozenset[str] = frozenset(get_args(ErrorType))
_SNAKE = re.compile(r"_([a-z0-9])")


def from_validation(error: RequestValidationError) -> Problem:
    """Each fault with a pointer and what is expected; or the rule that well-formed fields break."""
    found = error.errors()
    if all(fault["type"] == "rule" for fault in found):
        return _broken_rule(found[0], error.body)
    told = [
        {
            "pointer": _pointer(fault["loc"], error.body, missing=fault["type"] == "missing"),
            "code": fault["type"],
            "detail": _sentence(fault),
        }
        for fault in found[:_MOST_ERRORS]
    ]
    detail = "One field is not valid." if len(found) == 1 else f"{len(found)} fields are not valid."
    return ValidationFailed(detail, errors=told)


def _broken_rule(fault: Mapping[str, Any], body: object) -> RuleViolated:
    """Only the first broken rule is reported, as in a service that refuses by a rule."""
    field = _pointer(fault["loc"], body, missing=False).removeprefix("/")
    return RuleViolated(fault["msg"], rule=fault["ctx"]["rule"], field=field)


def _sentence(fault: Mapping[str, object]) -> str:
    kind = str(fault["type"])
    if kind not in _OF_PYDANTIC:
        return str(fault["msg"])
    bounds = fault.get("ctx")
    try:
        return _SENTENCES.get(kind, _GENERAL).format(**bounds if isinstance(bounds, dict) else {})
    except KeyError:
        return _GENERAL


def _pointer(place: Sequence[str | int], body: object, *, missing: bool) -> str:
    if not place:
        return ""
    source, *steps = place
    if source != "body":
        return _written([str(source), *(_camel(str(step)) for step in steps)])
    return _written(_steps_in(steps, body, missing=missing))


def _steps_in(steps: Sequence[str | int], body: object, *, missing: bool) -> list[str]:
    """pydantic puts names of union members between the steps; they are not in the document."""
    real: list[str] = []
    here: Any = body  # parsed JSON
    for step in steps:
        in_list = isinstance(here, list) and isinstance(step, int) and step < len(here)
        if in_list or (isinstance(here, dict) and step in here):
            here = here[step]
            real.append(str(step))
    if missing and steps and isinstance(here, dict):
        real.append(_camel(str(steps[-1])))
    return real


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda found: found[1].upper(), name)


def _written(steps: Sequence[str]) -> str:
    escaped = (step[:_LONGEST_NAME].replace("~", "~0").replace("/", "~1") for step in steps)
    return "".join(f"/{step}" for step in escaped)
