"""Fails a test at the answer that the OpenAPI document does not know."""

from collections.abc import Sequence

import httpx2

from thenga.kernel.http.operations import Operation, operations
from thenga.kernel.http.problems import MEDIA_TYPE
from thenga.kernel.manifest import Domain


class Documented:
    """The response hook of a test client: every status and code it sees is written down."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        self._operations = operations(domains)
        self.seen: dict[str, set[int]] = {}

    async def noting(self, response: httpx2.Response) -> None:
        request = response.request
        one = self._operation(request.method, request.url.path)
        if one is None:
            return
        self.seen.setdefault(one.name, set()).add(response.status_code)
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

    def _operation(self, method: str, path: str) -> Operation | None:
        fits = [o for o in self._operations if o.method == method and o.answers(path)]
        return min(fits, key=lambda o: o.path.count("{"), default=None)


def statuses(one: Operation) -> set[int]:
    """The statuses that the document names for an operation."""
    return {one.door.status_code or 200, *(int(status) for status in one.door.responses)}


def codes(one: Operation, status: int) -> set[str]:
    """The problem codes that the document names for an operation with a status."""
    content = one.door.responses[status].get("content", {})
    return set(content.get(MEDIA_TYPE, {}).get("examples", {}))
