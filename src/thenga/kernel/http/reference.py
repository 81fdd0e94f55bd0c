"""What the OpenAPI document says of a route beyond its models: every answer it can give."""

from typing import TYPE_CHECKING, Any

from thenga.kernel import errors
from thenga.kernel.errors import Problem

if TYPE_CHECKING:
    from thenga.kernel.http.doors import Door

PROBLEM_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string"},
        "requestId": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {
                    "pointer": {"type": "string"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}

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


def problems(*kinds: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route for the problems it can answer, by status."""
    by_status: dict[int | str, dict[str, Any]] = {}
    for kind in kinds:
        known = by_status.setdefault(
            kind.status,
            {
                "description": "",
                "content": {
                    "application/problem+json": {
                        "schema": {"$ref": "#/components/schemas/Problem"},
                        "examples": {},
                    }
                },
            },
        )
        examples = known["content"]["application/problem+json"]["examples"]
        if kind.code not in examples:
            joined = f"{known['description']}; " if known["description"] else ""
            known["description"] = f"{joined}`{kind.code}`: {kind.title}"
            examples[kind.code] = {"summary": kind.title, "value": _example(kind)}
    return by_status


def _example(kind: type[Problem]) -> dict[str, Any]:
    return {
        "type": f"/problems/{kind.code}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.title,
        "instance": "/v1/…",
        "code": kind.code,
        "requestId": "019a0000-0000-7000-8000-000000000001",
    }


def describe(door: "Door") -> None:
    """Add to a route what its entrance means on the wire."""
    kinds: list[type[Problem]] = list(_ALWAYS)
    kinds.append(errors.ValidationFailed)
    parameters = []
    extra: dict[str, Any] = {}
    if door.entrance.permission is not None:
        kinds += _KNOWN_CALLER
        extra["security"] = [{"bearer": []}]
        extra["x-permission"] = door.entrance.permission
        parameters.append(_ORGANIZATION)
    if door.entrance.known_by is not None:
        kinds += _KNOWN_CALLER
        extra["security"] = [{}, {"bearer": []}]  # without a credential, or with a good one
        extra["x-permission-if-signed-in"] = door.entrance.known_by
    if door.dependant.query_params:
        kinds.append(errors.MalformedRequest)
    if any(p.name == "cursor" for p in _query_of(door)):
        kinds.append(errors.InvalidCursor)
    if door.entrance.writing or door.body_field is not None:
        kinds += _BODY
    if door.entrance.writing:
        kinds += _CHANGE
    if door.entrance.writing and door.entrance.permission is not None:
        parameters.append(_VERSION if door.entrance.requires_version else _IF_MATCH)
    if door.entrance.requires_version:
        kinds.append(errors.PreconditionRequired)
    if door.entrance.idempotent:
        kinds += _KEYED
        parameters.append(_KEY)
    _list(door, kinds)
    if "GET" in (door.methods or ()) and _has_version(door.response_model):
        parameters.append(_IF_NONE_MATCH)
        door.responses[304] = {"description": "You have the same answer already."}
    extra["parameters"] = [*_organization_of(door), *parameters]
    if door.entrance.raw:
        extra["requestBody"] = _RAW
    door.openapi_extra = extra


def _list(door: "Door", kinds: list[type[Problem]]) -> None:
    """Put the problems of every door behind those that the route names itself."""
    told = [PROBLEMS_BY_CODE[c] for r in door.responses.values() for c in _codes(r)]
    door.responses = {
        **{status: r for status, r in door.responses.items() if not _codes(r)},
        **problems(*dict.fromkeys([*told, *kinds])),
    }


def _has_version(model: object) -> bool:
    return "version" in getattr(model, "model_fields", {})


def _query_of(door: "Door") -> list[Any]:
    found = list(door.dependant.query_params)
    for dependency in door.dependant.dependencies:
        found += dependency.query_params
    return found


def _organization_of(door: "Door") -> list[dict[str, Any]]:
    """The entrance reads it, so that a route need not take what it has no use for."""
    taken = list(door.dependant.path_params)
    for dependency in door.dependant.dependencies:
        taken += dependency.path_params
    declared = any(one.alias == _IN_PATH["name"] for one in taken)
    return [_IN_PATH] if "{organizationId}" in door.path and not declared else []


def _codes(response: dict[str, Any]) -> list[str]:
    shown = response.get("content", {}).get("application/problem+json", {})
    return list(shown.get("examples", {}))


PROBLEMS_BY_CODE = errors.PROBLEMS

_IN_PATH = {
    "name": "organizationId",
    "in": "path",
    "required": True,
    "description": "The organization whose data this is.",
    "schema": {"type": "string", "format": "uuid"},
}
_ORGANIZATION = {
    "name": "X-Organization-Id",
    "in": "header",
    "required": False,
    "description": "The organization to act for, where the path names none.",
    "schema": {"type": "string", "format": "uuid"},
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": (
        'The ETag of what you read, or its `version` in quotes (`"3"`); a change of somebody else '
        "is then not lost."
    ),
    "schema": {"type": "string", "pattern": r'^(\*|(W/)?"[0-9]{1,18}(-[0-9a-f]{16})?")$'},
}
# Where the version must be said, `*` does not say one.
_VERSION = _IF_MATCH | {
    "required": True,
    "schema": {"type": "string", "pattern": r'^(W/)?"[0-9]{1,18}(-[0-9a-f]{16})?"$'},
}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of what you have; 304 is answered where the answer would be the same.",
    "schema": {"type": "string"},
}
_RAW = {
    "required": True,
    "description": "The sender's own message, byte for byte as it was signed.",
    "content": {
        "application/json": {"schema": {"type": "object"}},
        "application/x-www-form-urlencoded": {"schema": {"type": "object"}},
    },
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Repeat a call with the same key and it takes effect once, for 24 hours.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
