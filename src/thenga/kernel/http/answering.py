"""Reading a request into a route's parameters.

FastAPI reads the signatures and makes the document; on each request it would solve a tree of
dependencies, validate parameter by parameter and validate the answer again, which cost a third of
a request when measured (docs/decisions/0007). Doors use a small part of that: path and query
parameters, one body, and dependencies that are plain coroutines or dataclasses that gather
parameters. Those are read here, with one validation for all parameters and one for the body.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, NotRequired, get_args, get_origin

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from thenga.kernel.http.framework import Dependant


@dataclass(frozen=True)
class _Parameter:
    """One path or query parameter: where it comes from and what it is called inside."""

    place: str
    wire_name: str
    name: str
    default: Any


@dataclass(frozen=True)
class _Call:
    """One function with its parameters; a door's route, or something it depends on."""

    function: Callable[..., Any]  # gives an awaitable, except where it is a dataclass
    parameters: tuple[_Parameter, ...]
    request_name: str | None


_UNKNOWN = {"type": "extra_forbidden", "msg": "unknown", "input": None}


class Reading:
    """How the parameters and the body of one route are read."""

    def __init__(self, dependant: Dependant, *, foreign: bool = False) -> None:
        self._foreign = foreign  # a stranger's query: what we do not know is passed over
        self._route = _call_of(dependant)
        self._needs = tuple((str(d.name), _call_of(d)) for d in dependant.dependencies)
        every = [*self._route.parameters, *(p for _, c in self._needs for p in c.parameters)]
        self._places = {p.wire_name: p.place for p in every}
        self._from_query = frozenset(p.wire_name for p in every if p.place == "query")
        self._lists = frozenset(_listed(dependant))
        self._known = TypeAdapter(_shape(dependant)).validator
        self._body = _body_of(dependant)

    async def values(self, request: Request) -> dict[str, Any]:
        """The keyword arguments of the route, or the errors of everything that is not right."""
        errors: list[Any] = []
        read = self._parameters(request, errors)
        values = _given(self._route, read)
        if self._body is not None:
            name, model = self._body
            values[name] = _read_body(request, model, errors)
        if errors:
            raise RequestValidationError(errors, body=request.scope["thenga"].json)
        for name, need in self._needs:
            arguments = _given(need, read)
            if need.request_name is not None:
                arguments[need.request_name] = request
            made = need.function(**arguments)
            values[name] = made if isinstance(need.function, type) else await made
        return values

    def _parameters(self, request: Request, errors: list[Any]) -> dict[str, Any]:
        sent: dict[str, Any] = dict(request.path_params)
        if request.scope["query_string"]:
            # A name that is not known is refused, so that a misspelt filter is not lost silently.
            for name, value in request.query_params.items():
                if name in self._lists:
                    sent[name] = request.query_params.getlist(name)
                elif name in self._from_query:
                    sent[name] = value
                elif not self._foreign:
                    errors.append(_UNKNOWN | {"loc": ("query", name)})
        try:
            read: dict[str, Any] = self._known.validate_python(sent)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                place = self._places.get(str(one["loc"][0]), "path")
                errors.append(one | {"loc": (place, *one["loc"])})
            return {}
        return read


def _call_of(dependant: Dependant) -> _Call:
    function = dependant.call
    gathers = isinstance(function, type) and is_dataclass(function)
    if function is None or not (gathers or inspect.iscoroutinefunction(inspect.unwrap(function))):
        raise TypeError(f"{function} must be a coroutine function or a dataclass")
    unread = [*dependant.header_params, *dependant.cookie_params]
    if unread:
        raise TypeError(f"{function} reads headers or cookies; entrances do that")
    found = [("path", f) for f in dependant.path_params]
    found += [("query", f) for f in dependant.query_params]
    parameters = tuple(
        _Parameter(place, f.alias, f.name, None if f.field_info.is_required() else f.get_default())
        for place, f in found
    )
    return _Call(function, parameters, dependant.request_param_name)


def _listed(dependant: Dependant) -> Iterator[str]:
    """The query parameters that are repeated for several values."""
    for need in (dependant, *dependant.dependencies):
        for field in need.query_params:
            kind = field.field_info.annotation
            if any(get_origin(part) is list for part in (kind, *get_args(kind))):
                yield field.alias


def _shape(dependant: Dependant) -> Any:
    """One TypedDict of all parameters by their wire names; those with a default may be missing."""
    fields: dict[str, Any] = {}
    for one in (dependant, *dependant.dependencies):
        for field in (*one.path_params, *one.query_params):
            kind: Any = field.field_info.annotation
            for constraint in field.field_info.metadata:
                kind = Annotated[kind, constraint]
            fields[field.alias] = kind if field.field_info.is_required() else NotRequired[kind]
    make: Any = TypedDict  # mypy wants the fields of a TypedDict spelled out
    return make("parameters", fields)


def _body_of(dependant: Dependant) -> tuple[str, type[BaseModel]] | None:
    if not dependant.body_params:
        return None
    (field,) = dependant.body_params
    model = field.field_info.annotation
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"{dependant.call} must take its body as a model")
    return field.name, model


def _given(call: _Call, read: dict[str, Any]) -> dict[str, Any]:
    return {p.name: read.get(p.wire_name, p.default) for p in call.parameters}


def _read_body(request: Request, model: type[BaseModel], errors: list[Any]) -> BaseModel | None:
    sent = request.scope["thenga"].json
    if sent is None and not request.scope["thenga"].body:
        if not any(field.is_required() for field in model.model_fields.values()):
            return model.model_validate({})  # nothing must be said, so nothing need be sent
        errors.append({"type": "missing", "loc": ("body",), "msg": "missing", "input": None})
        return None
    try:
        # A shape has names of its own in rows; on the wire it has its wire names alone.
        read: BaseModel = model.__pydantic_validator__.validate_python(
            sent, by_alias=True, by_name=False
        )
        return read
    except ValidationError as error:
        for one in error.errors(include_url=False):
            errors.append(one | {"loc": ("body", *one["loc"])})
        return None
