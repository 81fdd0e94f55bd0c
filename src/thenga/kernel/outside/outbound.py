"""Calls to the outside: the only two ways out.

`Outbound` calls an address that operators have set: https, ten seconds, no redirect, a bounded
answer. Loopback may be http: the sandbox and the tests stand there.

`guarded` fetches an address that a customer or a feed has named. A name can lead into our own
network, and can change between the check and the connection, so it is resolved once, checked, and
exactly that address is connected to, for each redirect anew.
"""

import asyncio
import socket
import ssl
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx2
import orjson

from thenga.kernel.values.networks import is_public

SECONDS = 10.0
_MOST_BYTES = 1024 * 1024
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_FOR_ANY_HOST = ("user-agent", "accept")  # headers that follow a redirect to another host


class Silence(Exception):
    """Nobody knows what the other side did: no answer, half an answer, or its own trouble."""

    reply: "Reply | None" = None  # the answer, where its own trouble was one


class Unreached(Silence):
    """No connection was made, so the other side did nothing."""


class AddressRefused(Exception):
    """An address that we do not call: not https, not public, or not one of the allowed hosts."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the other side answered; names of headers are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

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
            raise ValueError(f"{base_url}: providers must be called over https")
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
                httpx2.AsyncClient(
                    verify=tls(trust_env=True), timeout=SECONDS, follow_redirects=False
                ) as client,
                client.stream(
                    method, self._base + path, headers=given, content=body, data=form
                ) as answer,
            ):
                received = await _bounded(answer, _MOST_BYTES)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Unreached(type(error).__name__) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise Silence(type(error).__name__) from None
        reply = Reply(answer.status_code, received, dict(answer.headers))
        if reply.status >= 500 or answer.is_redirect:
            silence = Silence(f"status {reply.status}")
            silence.reply = reply
            raise silence
        return reply


async def guarded(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    hosts: Collection[str] | None = None,
    most_bytes: int,
    seconds: float,
) -> Reply:
    """GET an address that is not ours to trust; `hosts` names the only ones that may be called.

    Any status is an answer. `seconds` is for all of it, names and redirects included.
    """
    given = {name.lower(): value for name, value in (headers or {}).items()}
    asked = _parsed(url)
    try:
        async with asyncio.timeout(seconds):
            for _ in range(_MOST_REDIRECTS + 1):
                reply = await _get(asked, given, hosts, most_bytes)
                if reply.status not in _REDIRECTS or "location" not in reply.headers:
                    return reply
                following = _parsed(reply.headers["location"], asked)
                if following.netloc != asked.netloc:
                    given = {name: given[name] for name in _FOR_ANY_HOST if name in given}
                asked = following
    except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise Silence(type(error).__name__) from None
    raise Silence("too many redirects")


async def _get(
    url: httpx2.URL, headers: Mapping[str, str], hosts: Collection[str] | None, most_bytes: int
) -> Reply:
    """One hop: the name is resolved once, and the connection goes to the address it led to."""
    if url.scheme != "https" or url.userinfo or not url.host:
        raise AddressRefused("only https without a name and password")
    if hosts is not None and url.host not in hosts:
        raise AddressRefused("not one of the allowed hosts")
    address = await _public_address(url)
    # An answer that unpacks to a thousand times its size is not asked for, and not unpacked.
    sent = {**headers, "host": url.netloc.decode(), "accept-encoding": "identity"}
    async with (
        httpx2.AsyncClient(verify=tls(), trust_env=False, timeout=None) as client,
        client.stream(
            "GET",
            url.copy_with(host=address, fragment=None),
            headers=sent,
            follow_redirects=False,
            extensions={"sni_hostname": url.raw_host.decode()},
        ) as answer,
    ):
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise Silence("encoded, though not asked for")
        body = await _bounded(answer, most_bytes)
    return Reply(answer.status_code, body, dict(answer.headers))


async def _public_address(url: httpx2.URL) -> str:
    """Where the name leads to now; one address inside refuses all that the name has."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            url.host, url.port or 443, type=socket.SOCK_STREAM
        )
    except (OSError, UnicodeError):
        raise Silence("no such name") from None
    every = [str(one[4][0]) for one in found]
    if not every or not all(map(is_public, every)):
        raise AddressRefused("not a public address")
    return every[0]


def _parsed(url: str, base: httpx2.URL | None = None) -> httpx2.URL:
    try:
        return httpx2.URL(url) if base is None else base.join(url)
    except httpx2.InvalidURL:
        raise AddressRefused("not an address") from None


@cache
def tls(*, trust_env: bool = False) -> ssl.SSLContext:
    """One for all calls: to read the certificates takes some 20 ms, and nothing else runs then."""
    return httpx2.create_ssl_context(trust_env=trust_env)


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


async def _bounded(answer: httpx2.Response, most_bytes: int) -> bytes:
    taken = bytearray()
    async for piece in answer.aiter_bytes():
        taken += piece
        if len(taken) > most_bytes:
            raise Silence("too large")
    return bytes(taken)
