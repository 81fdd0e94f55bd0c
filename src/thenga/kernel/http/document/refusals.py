"""Problems in the API document: a schema for each code, and each set of codes as one answer."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from thenga.kernel.errors import PROBLEMS, FieldError, Problem
from thenga.kernel.http.document.naming import problem_component
from thenga.kernel.http.document.schemas import without_titles
from thenga.kernel.http.problems import MEDIA_TYPE
from thenga.kernel.http.reference import PROBLEMS as CODES

Json = dict[str, Any]

_SCHEMAS = "#/components/schemas/"
BASE = "Problem"
FIELD_ERROR = "ProblemFieldError"
_MONEY = "Money"

# What every problem says but its code, which stands in the schema of that code with its members:
# a constant that narrows a string of another schema is what some generators cannot read.
PROBLEM_SCHEMA: Json = {
    "type": "object",
    "description": "A refused request (RFC 9457): what is wrong and what to do next.",
    "required": ["type", "title", "status", "detail", "instance", "requestId"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri",
            "description": "Address of the page that explains the problem.",
        },
        "title": {"type": "string", "description": "Short description of the problem."},
        "status": {"type": "integer", "description": "HTTP status."},
        "detail": {"type": "string", "description": "What is wrong and what to do next."},
        "instance": {"type": "string", "description": "Path of the request."},
        "requestId": {
            "type": "string",
            "description": "ID of the request. Include it when you contact support.",
        },
    },
}
_FIELD_ERROR_SCHEMA: Json = {
    "type": "object",
    "description": "One field that is not valid.",
    "required": ["pointer", "code", "detail"],
    "properties": {
        "pointer": {"type": "string", "description": "JSON pointer to the field."},
        "code": {"type": "string", "description": "Code of the error, for programs."},
        "detail": {"type": "string", "description": "What is expected."},
    },
}
# Sets of codes that most operations share have a name of their own.
_SHARED = {
    "NotSignedIn": frozenset(
        {
            *("account-disabled", "key-expired", "key-revoked", "key-rotated", "mfa-required"),
            *("session-expired", "session-revoked", "token-expired", "unauthenticated"),
        }
    ),
    "NotPermitted": frozenset(
        {"forbidden", "step-up-required", "tenant-restricted", "tenant-suspended"}
    ),
    "Unavailable": frozenset({"dependency-unavailable", "overloaded"}),
}
_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After", "RateLimit", "RateLimit-Policy")}
_HEADERS[503] = ("Retry-After",)


def schema_name(kind: type[Problem]) -> str:
    """`invalid-transition` is `ProblemInvalidTransition`; with the members of a domain it begins
    with the domain, like `BillingProblemRefundNotPossible`."""
    return BASE + _pascal(kind.code) if kind.is_declared() else problem_component(kind)


def response_name(kinds: Sequence[type[Problem]]) -> str:
    """A name that the problems alone give."""
    left, parts = {kind.code: kind for kind in kinds}, []
    for name, shared in _SHARED.items():
        if shared <= left.keys():
            parts.append(name)
            left = {code: kind for code, kind in left.items() if code not in shared}
    own = [schema_name(kind).removeprefix(BASE) for _, kind in sorted(left.items())]
    return "Or".join([*parts, *own])


def response(kinds: Sequence[type[Problem]]) -> Json:
    """The answer of an operation that can refuse for these reasons, all of one status."""
    named = {kind.code: _SCHEMAS + schema_name(kind) for kind in kinds}
    shown = [{"$ref": name} for name in named.values()]
    schema: Json = shown[0]
    if len(shown) > 1:
        discriminator = {"propertyName": "code", "mapping": named}
        schema = {"oneOf": shown, "discriminator": discriminator}
    return {
        "description": "; ".join(kind.title for kind in kinds) + ".",
        "headers": header_references("X-Request-Id", *_HEADERS.get(kinds[0].status, ())),
        "content": {MEDIA_TYPE: {"schema": schema}},
        CODES: list(named),
    }


def header_references(*names: str) -> Json:
    """Headers of an answer, by their names among the components."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def schemas(kinds: Iterable[type[Problem]]) -> Json:
    """The schemas of these problems, and what they are made of."""
    made = {schema_name(kind): _schema(kind) for kind in sorted(kinds, key=schema_name)}
    return {BASE: PROBLEM_SCHEMA, FIELD_ERROR: _FIELD_ERROR_SCHEMA, **made}


def examples(codes: Iterable[str]) -> Json:
    """Each problem as it is answered."""
    return {
        code: {"summary": PROBLEMS[code].title, "value": _example(PROBLEMS[code])}
        for code in sorted(codes)
    }


def _schema(kind: type[Problem]) -> Json:
    told = "Code of the problem, for programs."
    own: Json = {"code": {"type": "string", "const": kind.code, "description": told}}
    for name, (type_, description) in kind.members.items():
        own[name] = {**_member(type_), "description": description}
    return {
        "description": " ".join((kind.__doc__ or kind.title).split()),
        "allOf": [
            {"$ref": _SCHEMAS + BASE},
            {"type": "object", "required": ["code"], "properties": own},
        ],
    }


@cache
def _adapter(type_: Any) -> Json:
    made: Json = TypeAdapter(type_).json_schema()
    made.pop("$defs", None)
    without_titles(made)
    return made


def _member(type_: Any) -> Json:
    if type_ == list[FieldError]:
        return {"type": "array", "items": {"$ref": _SCHEMAS + FIELD_ERROR}}
    if getattr(type_, "__name__", "") == _MONEY:
        return {"$ref": _SCHEMAS + _MONEY}
    return dict(_adapter(type_))


def _example(kind: type[Problem]) -> Json:
    return {
        "type": f"/problems/{kind.code}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.title,
        "instance": "/v1/…",
        "code": kind.code,
        "requestId": "019a0000-0000-7000-8000-000000000001",
    }


def _pascal(code: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in code.split("-"))
