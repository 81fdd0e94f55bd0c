"""Every operation of the API, read from the manifests: what documents and recordings go by."""

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.document.verbs import operation_id
from thenga.kernel.http.doors import Door

PREFIX = "/v1"


@dataclass(frozen=True)
class Operation:
    """One method on one path; `name` is the route's function, `id` what clients know it by."""

    domain: Domain
    method: str
    path: str
    door: Door

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def id(self) -> str:
        return operation_id(self.domain.name, self.function.__module__, self.name)

    @property
    def function(self) -> Callable[..., Any]:
        """The function as it was written, without the wrapping of the door."""
        written: Callable[..., Any] = inspect.unwrap(self.door.endpoint)
        return written

    @property
    def permission(self) -> str | None:
        return self.door.entrance.permission


class SameName(TypeError):
    """Two operations have one name, and whoever names one of them would mean both."""


def operations(domains: Sequence[Domain]) -> list[Operation]:
    """All operations in the order of the manifests; a name is there once, and so is an id."""
    found: dict[str, Operation] = {}
    for domain in domains:
        for one in _of(domain):
            other = found.setdefault(one.name, one)
            if other is not one:
                raise SameName(
                    f"{one.name} is the name of {other.method} {other.path} and of "
                    f"{one.method} {one.path}; name the functions apart"
                )
    return list(found.values())


class ByPath:
    """Finds the operation of a concrete path, by method and number of segments first."""

    def __init__(self, listed: Sequence[Operation]) -> None:
        self._known: dict[tuple[str, int], list[tuple[list[str], Operation]]] = {}
        # Fewer placeholders first: `/users/me` also fits `/users/{userId}`.
        for one in sorted(listed, key=lambda one: one.path.count("{")):
            parts = one.path.split("/")
            self._known.setdefault((one.method, len(parts)), []).append((parts, one))

    def find(self, method: str, path: str) -> Operation | None:
        """The operation that answers this path, or nothing."""
        given = path.split("/")
        for parts, one in self._known.get((method, len(given)), ()):
            if all(_fits(part, value) for part, value in zip(parts, given, strict=True)):
                return one
        return None


def _fits(part: str, value: str) -> bool:
    """Whether a segment of a concrete path fits one of an operation's path."""
    if "{" not in part:
        return part == value
    return re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", part), value) is not None


def mounted(domains: Sequence[Domain]) -> APIRouter:
    """The routes of the domains as an application mounts them, without an application."""
    router = APIRouter()
    for domain in domains:
        for each in domain.routers:
            router.include_router(each, prefix=PREFIX)
    return router


def tags(domains: Sequence[Domain]) -> dict[str, str]:
    """Each tag with the first sentence that its module says of itself."""
    found: dict[str, str] = {}
    for one in operations(domains):
        module = sys.modules.get(one.function.__module__)
        text = inspect.cleandoc(module.__doc__ or "") if module is not None else ""
        for tag in one.door.tags:
            found.setdefault(str(tag), text.partition("\n\n")[0].replace("\n", " "))
    return found


def _of(domain: Domain) -> Iterator[Operation]:
    for router in domain.routers:
        for route in router.routes:
            if isinstance(route, Door) and route.include_in_schema:
                for method in sorted(route.methods or ()):
                    yield Operation(domain, method, PREFIX + route.path, route)
