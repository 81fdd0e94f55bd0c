"""What a port is, and its signatures read as types that can travel.

A domain declares the port in its `public.py` and names it there; whoever implements the port
inherits the name and the time-out.
"""

import re
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature, iscoroutinefunction, signature
from types import new_class
from typing import Any, ClassVar, NotRequired, TypeVar, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json
from typing_extensions import TypedDict

from thenga.kernel.errors import MalformedRequest, ValidationFailed

PORTS: dict[str, type["Port"]] = {}

# The name stands in an internal URL and in signatures.
NAME = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")

Method = TypeVar("Method", bound=Callable[..., object])


class Port(ABC):
    """Asked by other domains; silence after `port_timeout` seconds is an answer they expect."""

    port_name: ClassVar[str]
    port_timeout: ClassVar[float]

    def __init_subclass__(cls, *, name: str | None = None, timeout: float = 1.0) -> None:
        super().__init_subclass__()
        if name is None:
            if not hasattr(cls, "port_name"):
                raise TypeError(f'{cls.__qualname__} declares a port and needs name="domain.port"')
            return
        if hasattr(cls, "port_name"):
            raise TypeError(f"{cls.__qualname__} implements {cls.port_name}; leave out its name")
        if not NAME.fullmatch(name) or timeout <= 0:
            raise TypeError(f"{cls.__qualname__}: {name!r}, {timeout} s is no name and time-out")
        known = PORTS.get(name)
        if known is not None and _full_name(known) != _full_name(cls):
            raise TypeError(f"port {name!r} is declared twice: {known}, {cls}")
        for method in _declared(cls):
            _check(cls, method)
        cls.port_name, cls.port_timeout = name, timeout
        PORTS[name] = cls


def port_of(shape: type, *, name: str, timeout: float) -> type[Port]:
    """A port that the kernel answers for each domain: the methods of `shape` by a name of its own.

    It is a `shape` too, so that `Bindings.every` finds those of all domains.
    """
    body = {method: vars(shape)[method] for method in _declared(shape)}
    title = "".join(word.title() for word in name.split("."))
    named = {"name": name, "timeout": timeout}
    return new_class(title, (shape, Port), named, lambda space: space.update(body))


def idempotent(method: Method) -> Method:
    """May be asked again when nobody answered: a second call with the same key changes nothing."""
    method.__dict__["__idempotent__"] = True
    return method


@dataclass(frozen=True, slots=True)
class MethodShape:
    """One method as it travels: its arguments by name, and its answer.

    Fields go by their Python names and not by alias, so both directions always agree.
    """

    name: str
    idempotent: bool
    known: frozenset[str]
    required: frozenset[str]
    call: TypeAdapter[dict[str, dict[str, object]]]
    answer: TypeAdapter[object]

    def encode_arguments(self, arguments: dict[str, object]) -> bytes:
        """Refuses what is not declared as a direct call would, with a TypeError."""
        given = arguments.keys()
        if not (self.required <= given <= self.known):
            wrong = sorted((self.required - given) | (given - self.known))
            raise TypeError(f"{self.name}() is missing or does not know: {', '.join(wrong)}")
        try:
            return self.call.dump_json(
                {"arguments": arguments}, by_alias=False, round_trip=True, warnings="error"
            )
        except PydanticSerializationError:
            # The message quotes values, which may be personal, so it is not passed on.
            raise TypeError(f"{self.name}() was not given values of the declared types") from None

    def decode_arguments(self, body: bytes) -> dict[str, object]:
        try:
            call = self.call.validate_json(body, strict=True, by_alias=False, by_name=True)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            if found[0]["type"] == "json_invalid":
                raise MalformedRequest from None
            raise ValidationFailed(
                errors=[
                    {
                        "pointer": "/" + "/".join(str(step) for step in one["loc"]),
                        "code": one["type"],
                        "detail": one["msg"],
                    }
                    for one in found
                ]
            ) from None
        return call["arguments"]

    def encode_answer(self, answer: object) -> bytes:
        try:
            return self.answer.dump_json(answer, by_alias=False, round_trip=True, warnings="error")
        except PydanticSerializationError:
            raise TypeError(f"{self.name}() did not answer a value of the declared type") from None

    def decode_answer(self, body: bytes) -> object:
        return self.answer.validate_json(body, strict=True, by_alias=False, by_name=True)


def methods(port_class: type[Port]) -> dict[str, MethodShape]:
    """The shapes of a port; read on first use, so a process pays only for ports on the wire."""
    return _shapes(PORTS[port_class.port_name])


def schema(port_class: type[Port]) -> dict[str, object]:
    """The contract for snapshot tests: what differs from it needs a new method."""
    return {
        "name": port_class.port_name,
        "timeout": port_class.port_timeout,
        "methods": {
            shape.name: {
                "idempotent": shape.idempotent,
                "call": shape.call.json_schema(by_alias=False),
                "answer": shape.answer.json_schema(by_alias=False, mode="serialization"),
            }
            for shape in methods(port_class).values()
        },
    }


@cache
def _shapes(declaring: type[Port]) -> dict[str, MethodShape]:
    return {name: _shape(declaring, name) for name in sorted(_declared(declaring))}


def _full_name(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


def _declared(cls: type) -> list[str]:
    return [
        name
        for name, value in vars(cls).items()
        if not name.startswith("_") and (callable(value) or hasattr(value, "__get__"))
    ]


def _check(cls: type[Port], name: str) -> None:
    method = vars(cls)[name]
    where = f"{cls.__qualname__}.{name}"
    if not getattr(method, "__isabstractmethod__", False):
        # A body here would run on the asking side, but only where the port is remote.
        raise TypeError(f"{where} must be an abstract method: a port only declares")
    if not iscoroutinefunction(method):
        raise TypeError(f"{where} must be async: it may be answered over a network")
    read = signature(method)
    for parameter in list(read.parameters.values())[1:]:
        if parameter.kind is not Parameter.KEYWORD_ONLY:
            raise TypeError(f"{where}: {parameter.name} must be keyword-only")
        if parameter.annotation is Parameter.empty:
            raise TypeError(f"{where}: {parameter.name} needs an annotation")
    if read.return_annotation is Signature.empty:
        raise TypeError(f"{where} needs the annotation of its answer")


def _shape(cls: type[Port], name: str) -> MethodShape:
    method = vars(cls)[name]
    where = f"{cls.__qualname__}.{name}"
    types = get_type_hints(method, include_extras=True)
    answer = types.pop("return")
    if any(one in (Any, object) for one in (answer, *types.values())):
        raise TypeError(f"{where}: Any and object say nothing about the value")
    parameters = list(signature(method).parameters.values())[1:]
    required = frozenset(one.name for one in parameters if one.default is Parameter.empty)
    # A parameter that was not given stays away, so the default is always the answering side's,
    # and an older process can be asked by a newer one that leaves the new parameter out.
    fields = {key: kind if key in required else NotRequired[kind] for key, kind in types.items()}
    make: Any = TypedDict  # mypy wants the fields of a TypedDict spelled out
    arguments = make("arguments", fields)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid")
    call = make("call", {"arguments": arguments})
    call.__pydantic_config__ = ConfigDict(extra="forbid")
    return MethodShape(
        name=name,
        idempotent="__idempotent__" in method.__dict__,
        known=frozenset(types),
        required=required,
        call=_adapter(call, where),
        answer=_adapter(answer, where),
    )


def _adapter(kind: Any, where: str) -> TypeAdapter[Any]:
    try:
        adapter = TypeAdapter[Any](kind)
        shown = to_json(adapter.json_schema(mode="serialization"))
    except PydanticUserError as error:
        raise TypeError(f"{where} has a type that is no value: {error}") from error
    if b'"writeOnly":true' in shown:
        # A SecretStr is written as asterisks, and the other side would take them for the secret.
        raise TypeError(f"{where} has a secret type, which arrives masked; use a sealed str")
    return adapter
