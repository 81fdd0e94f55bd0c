"""Fails a test at the answer that the OpenAPI document does not know."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import httpx2

from thenga import topology
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.openapi import document
from thenga.kernel.http.operations import ByPath, Operation, mounted, operations
from thenga.kernel.http.problems import MEDIA_TYPE

Json = dict[str, Any]


@cache
def whole_document() -> Json:
    """The API document of all domains, made once a run. It is shared: change a copy."""
    domains = topology.load(topology.DOMAINS)
    return document(mounted(domains).routes, domains)


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
            told, listed = response.json()["code"], codes(one, response.status_code)
            assert told in listed, (
                f"{one.name} answered {told}; documented with {response.status_code} are "
                f"{sorted(listed)}"
            )


def statuses(one: Operation) -> set[int]:
    """The statuses that the document names for an operation."""
    return {one.door.status_code or 200, *(int(status) for status in one.door.responses)}


def codes(one: Operation, status: int) -> set[str]:
    """The problem codes that the document names for an operation with a status."""
    content = one.door.responses[status].get("content", {})
    return set(content.get(MEDIA_TYPE, {}).get("examples", {}))
