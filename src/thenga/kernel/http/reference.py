"""What the OpenAPI document says of a route beyond its models: every answer it can give."""

from collections.abc import Callable
from inspect import get_annotations
from types import UnionType
from typing import Any, Union, get_args, get_origin

from fastapi.routing import APIRoute

from thenga.kernel import errors
from thenga.kernel.errors import Problem
from thenga.kernel.http.bodies import Accepted, Known
from thenga.kernel.http.entrances import Entrance
from thenga.kernel.http.entrances.headers import REASON_PATTERN
from thenga.kernel.http.lists import PAGING

PROBLEMS = "x-problems"  # the codes of an answer
_KINDS = "kinds"  # their classes, which a door keeps and the document does not show

_ALWAYS = (errors.RateLimited, errors.DependencyUnavailable, errors.Overloaded)
_KNOWN_CALLER = (
    errors.Unauthenticated,
    errors.TokenExpired,
    errors.SessionRevoked,
    errors.SessionExpired,
    errors.KeyRevoked,
    errors.KeyExpired,
    errors.KeyRotated,
    errors.AccountDisabled,
    errors.MfaRequired,
    errors.Forbidden,
    errors.StepUpRequired,
    errors.TenantSuspended,
    errors.TenantRestricted,
    errors.NotFound,
)
_BODY = (
    errors.MalformedRequest,
    errors.TooLarge,
    errors.UploadTimeout,
    errors.UnsupportedMediaType,
)
_CHANGE = (errors.StaleVersion, errors.Conflict)
_KEYED = (errors.IdempotencyInProgress, errors.IdempotencyKeyReused)


class SameCode(TypeError):
    """A route lists two classes of one code, and its answer could have the schema of one only."""


def problems(*kinds: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route for the problems it can answer, by status."""
    by_status: dict[int | str, dict[str, Any]] = {}
    for kind in dict.fromkeys(kinds):
        empty = {"description": "Refused.", PROBLEMS: [], _KINDS: []}
        known = by_status.setdefault(kind.status, empty)
        if kind.code in known[PROBLEMS]:
            raise SameCode(f"{kind.code} is listed twice; list the class that has all members")
        known[PROBLEMS].append(kind.code)
        known[_KINDS].append(kind)
    return by_status


_BESIDE: dict[Any, tuple[int, str]] = {
    Known: (200, "The resource already existed."),
    Accepted: (202, "Accepted. The work goes on after this response."),
}


def by_annotation(endpoint: Callable[..., Any], more: dict[str, Any]) -> dict[str, Any]:
    """What a route is made with: `Known` and `Accepted` in its annotation are answers beside."""
    made = get_annotations(endpoint, eval_str=True).get("return")
    parts = get_args(made) if get_origin(made) in (Union, UnionType) else (made,)
    beside = {kind: get_args(part)[0] for part in parts if (kind := get_origin(part)) in _BESIDE}
    if not beside:
        return more
    plain = [part for part in parts if get_origin(part) not in _BESIDE]
    if not plain:  # every answer is of that kind, so its status is the route's own
        ((kind, view),) = beside.items()
        return {**more, "response_model": view, "status_code": _BESIDE[kind][0]}
    (view,) = plain
    answers = {
        status: {"model": beside[kind], "description": text}
        for kind, (status, text) in _BESIDE.items()
        if kind in beside
    }
    return {**more, "response_model": view, "responses": answers | (more.get("responses") or {})}


def describe(route: APIRoute, entrance: Entrance) -> dict[str, type[Problem]]:
    """Add to a route what its entrance means on the wire; the problems it can answer, by code."""
    extra: dict[str, Any] = {}
    if entrance.permission is not None:
        extra["security"] = [{"bearer": []}]
        extra["x-permission"] = entrance.permission
    if entrance.known_by is not None:
        extra["security"] = [{}, {"bearer": []}]  # without a credential, or with a good one
        extra["x-permission-if-signed-in"] = entrance.known_by
    found = _list(route, _kinds(route, entrance))
    if _has_tag(route):
        route.responses[304] = {"description": "Not modified: you already have this version."}
    extra["parameters"] = [
        *_of_path(route),
        *({"$ref": f"#/components/parameters/{name}"} for name in _headers(route, entrance)),
    ]
    if entrance.raw:
        extra["requestBody"] = _RAW
    route.openapi_extra = extra
    return found


def _kinds(route: APIRoute, entrance: Entrance) -> list[type[Problem]]:
    """The problems that an entrance can answer, whatever the route does."""
    kinds: list[type[Problem]] = [*_ALWAYS, errors.ValidationFailed]
    if entrance.permission is not None or entrance.known_by is not None:
        kinds += _KNOWN_CALLER
    names = {parameter.name for parameter in _query_of(route)}
    if names - PAGING:
        kinds.append(errors.MalformedRequest)
    if "cursor" in names:
        kinds.append(errors.InvalidCursor)
    if entrance.writing or route.body_field is not None:
        kinds += _BODY
    if entrance.writing:
        kinds += _CHANGE
    if entrance.requires_version:
        kinds.append(errors.PreconditionRequired)
    if entrance.idempotent:
        kinds += _KEYED
    return kinds


def _headers(route: APIRoute, entrance: Entrance) -> list[str]:
    """The header parameters that an entrance reads, by their names in the document."""
    found = []
    if entrance.permission is not None and "{organizationId}" not in route.path:
        found.append("X-Organization-Id")
    if entrance.writing and entrance.permission is not None:
        found.append("If-Match-Required" if entrance.requires_version else "If-Match")
    if entrance.idempotent:
        found.append("Idempotency-Key")
    if _has_tag(route):
        found.append("If-None-Match")
    return found


def _has_tag(route: APIRoute) -> bool:
    return "GET" in (route.methods or ()) and has_version(route.response_model)


def _list(route: APIRoute, kinds: list[type[Problem]]) -> dict[str, type[Problem]]:
    """Put the problems of every door behind those that the route names itself."""
    told = [kind for response in route.responses.values() for kind in _kinds_of(response)]
    named = {kind.code: kind for kind in told}
    known = named | {kind.code: kind for kind in kinds if kind.code not in named}
    listed = problems(*known.values())
    for response in listed.values():
        del response[_KINDS]
    others = {status: r for status, r in route.responses.items() if not _codes(r)}
    route.responses = {**others, **listed}
    return known


def _kinds_of(response: dict[str, Any]) -> list[type[Problem]]:
    """The classes that a route named; a copy of a mounted route has their codes only."""
    return response.get(_KINDS) or [errors.PROBLEMS[code] for code in _codes(response)]


def has_version(model: object) -> bool:
    """Whether an answer of this model has an ETag."""
    return "version" in getattr(model, "model_fields", {})


def _query_of(route: APIRoute) -> list[Any]:
    found = list(route.dependant.query_params)
    for dependency in route.dependant.dependencies:
        found += dependency.query_params
    return found


def _of_path(route: APIRoute) -> list[dict[str, Any]]:
    """The organization that the entrance reads where the route itself has no use for it."""
    taken = list(route.dependant.path_params)
    for dependency in route.dependant.dependencies:
        taken += dependency.path_params
    if "{organizationId}" not in route.path or any(one.alias == "organizationId" for one in taken):
        return []
    return [_ORGANIZATION]


def _codes(response: dict[str, Any]) -> list[str]:
    return list(response.get(PROBLEMS, ()))


_ORGANIZATION = {
    "name": "organizationId",
    "in": "path",
    "required": True,
    "description": "ID of the organization.",
    "schema": {"type": "string", "format": "uuid"},
}
# The parameters that entrances read, by their names in the document.
PARAMETERS: dict[str, dict[str, Any]] = {
    "X-Organization-Id": {
        "name": "X-Organization-Id",
        "in": "header",
        "required": False,
        "description": "Organization to act for. Defaults to the active one of the session.",
        "schema": {"type": "string", "format": "uuid"},
    },
    "If-Match": {
        "name": "If-Match",
        "in": "header",
        "required": False,
        "description": (
            'ETag of the version you read, or its `version` in quotes (`"3"`). The change is '
            "refused if someone else changed the resource first."
        ),
        "schema": {"type": "string", "pattern": r'^(\*|(W/)?"[0-9]{1,18}(-[0-9a-f]{16})?")$'},
    },
    # Where the version must be said, `*` does not say one.
    "If-Match-Required": {
        "name": "If-Match",
        "in": "header",
        "required": True,
        "description": "ETag of the version you read, or its `version` in quotes. Required here.",
        "schema": {"type": "string", "pattern": r'^(W/)?"[0-9]{1,18}(-[0-9a-f]{16})?"$'},
    },
    "If-None-Match": {
        "name": "If-None-Match",
        "in": "header",
        "required": False,
        "description": "ETag of the version you have. The answer is 304 if nothing changed.",
        "schema": {"type": "string"},
    },
    "Idempotency-Key": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": (
            "A unique key of your choice. Repeating the call with the same key within 24 hours "
            "has no further effect and returns the first answer."
        ),
        "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
    },
}
_WHY = {
    "name": "X-Admin-Reason",
    "in": "header",
    "schema": {"type": "string", "pattern": REASON_PATTERN},
}
_SAID_WHY = "10 to 500 characters, percent-encoded UTF-8. Stored in the audit trail."
# Of the operations by which staff look at what is a customer's.
REASONS: dict[str, dict[str, Any]] = {
    "X-Admin-Reason": {
        **_WHY,
        "required": False,
        "description": f"For platform staff: why you need to see this. {_SAID_WHY}",
    },
    "X-Admin-Reason-Required": {
        **_WHY,
        "required": True,
        "description": f"Why you need to see this. Required here. {_SAID_WHY}",
    },
}
_RAW = {
    "required": True,
    "description": "The sender's message, byte for byte as it was signed.",
    "content": {
        "application/json": {"schema": {"type": "object"}},
        "application/x-www-form-urlencoded": {"schema": {"type": "object"}},
    },
}
