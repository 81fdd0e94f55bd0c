"""Calls to providers: https to a configured host, ten seconds, no redirect, a bounded answer.

Addresses come from the operator's settings alone, never from a customer or a callback, so there is
no name to be turned round between the look and the call (security rule 41). Loopback may be http:
the sandbox and the tests stand there.
"""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import orjson

SECONDS = 10.0
_MOST_BYTES = 1024 * 1024
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Silence(Exception):
    """Nobody knows what the provider did: no answer, half an answer, or its own trouble."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered."""

    status: int
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The object of the answer; an answer that is none is silence."""
        try:
            found = orjson.loads(self.body)
        except ValueError:
            raise Silence("not JSON") from None
        if not isinstance(found, dict):
            raise Silence("not an object")
        return found


class Outbound:
    """The one way out to a provider."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            raise ValueError(f"{base_url}: a provider is called by https")
        self._base = base_url.rstrip("/")

    async def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Reply:
        """One call; whatever is no whole answer below 500 is silence."""
        body = orjson.dumps(json) if json is not None else content
        given = dict(headers or {})
        if json is not None:
            given["Content-Type"] = "application/json"
        try:
            async with (
                httpx2.AsyncClient(timeout=SECONDS, follow_redirects=False) as client,
                client.stream(
                    method, self._base + path, headers=given, content=body, data=form
                ) as answer,
            ):
                received = await _bounded(answer)
        except (httpx2.HTTPError, OSError) as error:
            raise Silence(type(error).__name__) from None
        if answer.status_code >= 500 or answer.is_redirect:
            raise Silence(f"status {answer.status_code}")
        return Reply(answer.status_code, received)


async def addresses(names: Sequence[str]) -> set[str]:
    """Where names lead to now; one that leads nowhere is left out, none at all is silence."""
    looking = asyncio.get_running_loop().getaddrinfo
    asked = (looking(name, None, type=socket.SOCK_STREAM) for name in names)
    try:
        async with asyncio.timeout(SECONDS):
            answers = await asyncio.gather(*asked, return_exceptions=True)
    except TimeoutError:
        raise Silence("names") from None
    found = {str(one[4][0]) for each in answers if isinstance(each, list) for one in each}
    if not found:
        raise Silence("names")
    return found


async def _bounded(answer: httpx2.Response) -> bytes:
    taken = bytearray()
    async for piece in answer.aiter_bytes():
        taken += piece
        if len(taken) > _MOST_BYTES:
            raise Silence("too large")
    return bytes(taken)
