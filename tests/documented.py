"""Fails a test at the answer that the OpenAPI document does not know."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import httpx2
import orjson

from thenga import topology
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import Problem
from thenga.kernel.http.document import published
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import ByPath, Operation, mounted, operations
from thenga.kernel.http.document.refusals import PROBLEM_SCHEMA
from thenga.kernel.http.problems import MEDIA_TYPE
from thenga.kernel.http.reference import PROBLEMS

Json = dict[str, Any]


@cache
def whole_document() -> Json:
    """The API document of all domains, as it is served. It is shared: change a copy."""
    domains = topology.load(topology.DOMAINS)
    return _kept("openapi.full.json", domains) or document(mounted(domains).routes, domains)


@cache
def lean_document() -> Json:
    """The document that clients are made from. It is shared: change a copy."""
    domains = topology.load(topology.DOMAINS)
    kept = _kept("openapi.json", domains)
    return kept or document(mounted(domains).routes, domains, examples=False)


def _kept(name: str, domains: Sequence[Domain]) -> Json | None:
    """What `thenga prebuild` made of the present source, which `make install` runs."""
    found = published.read(published.KEPT, domains)
    return None if found is None else orjson.loads(found[name].plain())


@cache
def names_by_id() -> dict[str, str]:
    """The names that suites know operations by, from the identifiers of the document."""
    return {one.id: one.name for one in operations(topology.load(topology.DOMAINS))}


@cache
def documented() -> "Documented":
    """The hook of all test clients of a run."""
    return Documented(topology.load(topology.DOMAINS))


class Documented:
    """The response hook of a test client: fails at what the document does not name."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        self._by_path = ByPath(operations(domains))

    async def noting(self, response: httpx2.Response) -> None:
        request = response.request
        one = self._by_path.find(request.method, request.url.path)
        if one is None:
            return
        known = statuses(one)
        assert response.status_code in known, (
            f"{one.name} answered {response.status_code}; documented are {sorted(known)}"
        )
        if response.headers.get("content-type") == MEDIA_TYPE:
            await response.aread()
            problem = response.json()
            assert not only_repeats_title(problem), f"{one.name} answered {problem}: say what to do"
            told, listed = problem["code"], codes(one, response.status_code)
            assert told in listed, (
                f"{one.name} answered {told}; documented with {response.status_code} are "
                f"{sorted(listed)}"
            )
            unknown = unknown_members(problem, one.door.problems[told])
            assert not unknown, f"{one.name} answered {told} with {unknown}, declared nowhere"


def unknown_members(problem: Json, kind: type[Problem]) -> list[str]:
    """What a problem says that the class which the operation lists does not declare."""
    known = {*PROBLEM_SCHEMA["properties"], "code", *kind.members}
    return sorted(problem.keys() - known)


def resolved(made: Json, part: Json) -> Json:
    """What a part of the document refers to, or itself."""
    found: Any = part
    if "$ref" in part:
        found = made
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
    return dict(found)


def only_repeats_title(problem: Json) -> bool:
    """Whether the detail says nothing that the title does not say, whatever its punctuation."""
    detail, title = (re.findall(r"\w+", problem[name].casefold()) for name in ("detail", "title"))
    return bool(detail == title)


def statuses(one: Operation) -> set[int]:
    """The statuses that the document names for an operation."""
    return {one.door.status_code or 200, *(int(status) for status in one.door.responses)}


def codes(one: Operation, status: int) -> set[str]:
    """The problem codes that the document names for an operation with a status."""
    return set(one.door.responses[status].get(PROBLEMS, ()))
