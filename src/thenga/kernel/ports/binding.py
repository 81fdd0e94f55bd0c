"""Who stands behind each port, chosen once at start.

Here is also how Problems travel.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from types import new_class
from typing import Any, TypeVar

import structlog
from pydantic import TypeAdapter
from pydantic_core import to_json

from thenga.kernel.declare.port import PORTS, MethodShape, Port, methods
from thenga.kernel.errors import PROBLEMS, DependencyUnavailable, Problem

P = TypeVar("P", bound=Port)
T = TypeVar("T")
Ask = Callable[[MethodShape, dict[str, object]], Awaitable[object]]

MEMBERS = ("type", "title", "status", "detail", "code", "headers")
READ_PROBLEM = TypeAdapter(dict[str, Any])

log = structlog.get_logger()


class Unbound(LookupError):
    """Nobody answers this port in this process. Kept apart from a defect of whoever answers it."""


class Bindings:
    """Passed down with the work; there is no global one."""

    def __init__(self) -> None:
        # Any, because a dict cannot say that each value is an instance of its own key.
        self._bound: dict[type[Port], Any] = {}

    def bind(self, port_class: type[P], implementation: P) -> None:
        if PORTS.get(port_class.port_name) is not port_class:
            raise TypeError(f"{port_class.__qualname__} implements a port; bind the port itself")
        if not isinstance(implementation, port_class):
            raise TypeError(f"{implementation!r} does not implement {port_class.port_name}")
        if port_class in self._bound:
            raise ValueError(f"port {port_class.port_name} is bound already")
        self._bound[port_class] = implementation

    def of(self, port_class: type[P]) -> P:
        """The very object that was bound, so a local call costs what a method call costs."""
        try:
            implementation: P = self._bound[port_class]
        except KeyError:
            raise Unbound(f"nothing is bound to port {port_class.port_name}") from None
        return implementation

    def every(self, shape: type[T]) -> list[T]:
        """All that was bound and has this shape, by the names of their ports."""
        named = sorted(self._bound.items(), key=lambda one: one[0].port_name)
        return [implementation for _, implementation in named if isinstance(implementation, shape)]

    def require(self, needed: Iterable[type[Port]]) -> None:
        """Fails the start, naming all that is missing at once."""
        missing = sorted({one.port_name for one in needed if one not in self._bound})
        if missing:
            raise LookupError(f"no binding and no remote address for ports: {', '.join(missing)}")


class ForeignProblem(Problem):
    """Another service refused for a reason that only its own domain declares.

    Contact support with the `requestId`.
    """

    code, status, title = "foreign-problem", 502, "Another service refused the request"


def problem_as_json(problem: Problem) -> bytes:
    """The members of the standard win over a fact that has the name of one."""
    return to_json(
        {
            **problem.facts,
            "type": f"/problems/{problem.code}",
            "title": problem.title,
            "status": problem.status,
            "detail": problem.detail,
            "code": problem.code,
            "headers": problem.headers,
        }
    )


def restored(body: bytes, port_name: str) -> Problem:
    """The Problem the other side raised; what it could not do itself (5xx) counts as silence."""
    told = READ_PROBLEM.validate_json(body)
    if told["status"] >= 500:
        return silence(port_name)
    known = PROBLEMS.get(told["code"], ForeignProblem)
    facts = {name: value for name, value in told.items() if name not in MEMBERS}
    problem = known.__new__(known)
    # A subclass may build its detail from arguments of its own; here the detail is known.
    Problem.__init__(problem, told["detail"], headers=told.get("headers"), **facts)
    if known is ForeignProblem:
        # A split process has not loaded the class, yet its customer gets the same refusal.
        problem.__dict__.update({name: told[name] for name in ("code", "status", "title")})
    return problem


def silence(port_name: str) -> DependencyUnavailable:
    return DependencyUnavailable(dependency=port_name)


async def within(seconds: float, port_name: str, answer: Awaitable[T]) -> T:
    """A time-out of ours is silence; a TimeoutError from inside is the defect it is."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await answer
    except TimeoutError:
        if limit.expired():
            log.warning("kernel.port.timed_out", port=port_name, seconds=seconds)
            raise silence(port_name) from None
        raise


def stand_in(port_class: type[P], ask: Ask) -> P:
    """An implementation of which every method hands its shape and arguments to `ask`."""

    def standing_in_for(shape: MethodShape) -> Callable[..., Awaitable[object]]:
        async def method(self: Port, **arguments: object) -> object:
            return await ask(shape, arguments)

        method.__name__ = shape.name
        return method

    body = {name: standing_in_for(shape) for name, shape in methods(port_class).items()}
    made = new_class(
        f"{port_class.__name__}StandIn", (port_class,), None, lambda ns: ns.update(body)
    )
    implementation: P = made()
    return implementation


def answered_by(port_class: type[P], answering: object) -> P:
    """A port that one object answers, method by method; it has the shape of `port_of`."""

    async def ask(shape: MethodShape, arguments: dict[str, object]) -> object:
        answer: object = await getattr(answering, shape.name)(**arguments)
        return answer

    return stand_in(port_class, ask)
