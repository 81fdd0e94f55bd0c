"""The door: what happens around every route, in this order.

Limit by address, authenticate, limit by actor, authorize, read and validate, act, render, commit,
answer. No byte of a body is read before the caller was let in (SEC-60); only a `signed` entrance
must read one to know the caller, takes less of it and waits less long. The unit of work is
finished after the answer has been rendered and before its first byte leaves, so a failed commit is
never told as a success.
"""

from collections.abc import Callable
from hashlib import blake2b
from time import monotonic
from typing import Any
from urllib.parse import quote, urlencode

import asyncpg
from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.routing import BaseRoute

from thenga.kernel.db.idempotency import Answer, Replay
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, UnsupportedMediaType
from thenga.kernel.events.inbox import AlreadyTaken
from thenga.kernel.http.answering import Reading
from thenga.kernel.http.bodies import Accepted, Known, PageOf, secrets_of, without_secrets
from thenga.kernel.http.bounds import take_in
from thenga.kernel.http.entrances import SLOW_SECONDS, Entrance, note_key
from thenga.kernel.http.json_guard import read_json
from thenga.kernel.http.problems import Retryable, from_database
from thenga.kernel.http.reference import by_annotation, describe
from thenga.kernel.http.shared import Shared, shared_of
from thenga.kernel.values.json_writer import to_json

_KEPT_HEADERS = ("location", "etag", "content-type")
_OF_THE_CALLER = "Authorization, X-Organization-Id"  # one address shows each what is theirs


class WithoutEntrance(TypeError):
    """A route has no way in, or more than one; the application does not start with it."""


class Door(APIRoute):
    """A route with exactly one entrance."""

    entrance: Entrance
    domain: str
    problems: dict[str, type[Problem]]  # what it can answer, by code

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, endpoint, **by_annotation(endpoint, more))
        ways_in = [d for d in self.dependant.dependencies if isinstance(d.call, Entrance)]
        if len(ways_in) != 1:
            raise WithoutEntrance(f"{path} has {len(ways_in)} entrances, it needs exactly one")
        (way_in,) = ways_in
        assert isinstance(way_in.call, Entrance)  # noqa: S101  # chosen so above
        self.entrance = way_in.call
        self.domain = _domain_of(endpoint)
        self.problems = describe(self, self.entrance)
        self._name = str(way_in.name)
        self.dependant.dependencies.remove(way_in)
        self._reading = Reading(self.dependant, foreign=self.entrance.foreign_query)
        self._status = self.status_code or 200

    async def serve(self, request: Request) -> Response:
        """One request, from the gate to the committed answer."""
        shared = shared_of(request)
        try:
            return await self._pass(request, shared)
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            # A deadlock, a serialization failure, or a plan that a migration made stale, which
            # asyncpg repeats only outside a transaction: the whole unit of work is done once more.
            if not isinstance(from_database(error), Retryable) or self.entrance.streams:
                raise
        return await self._pass(request, shared)

    async def _pass(self, request: Request, shared: Shared) -> Response:
        unit = await self.entrance.open(request, self.domain)
        tenant = unit._scope.organization_id
        if tenant is not None:
            shared.bounds.enter_tenant(tenant)
        try:
            unit = await self._with_body(request, shared, unit)
            values = await self._reading.values(request)
            values[self._name] = unit
            answer = await self.endpoint(**values)
            status = self._status
            if isinstance(answer, Known):
                answer, status = answer.view, 200
            elif isinstance(answer, Accepted):
                answer, status = answer.view, 202
            response = _rendered(request, answer, status)
            if isinstance(unit, Work):
                await unit.finish(_kept(unit, response, answer))
            return response
        except Problem as problem:
            if problem.keeps and isinstance(unit, Work):
                await unit.finish()
            raise
        except Replay as replay:
            return _again(replay.answer)
        except AlreadyTaken:
            return Response(b'{"outcome":"already_received"}', media_type="application/json")
        finally:
            await unit.close()
            if tenant is not None:
                shared.bounds.leave_tenant(tenant)

    async def _with_body(self, request: Request, shared: Shared, unit: Reader) -> Reader:
        """Take the body in, and what can be noted only with it."""
        if self.entrance.raw:
            return unit
        if not self.entrance.streams and request.method not in ("GET", "HEAD"):
            begun = monotonic()
            await take_in(request, shared.bounds, shared.host.settings.body_bytes)
            # What the caller may do can have ended meanwhile.
            if monotonic() - begun > SLOW_SECONDS:
                await unit.close()
                unit = await self.entrance.open(request, self.domain)
            if self.entrance.idempotent:
                await note_key(request, shared, unit)
        _guard(request)
        return unit


class _Doors(APIRouter):
    """A router that makes its doors when they are first read: a worker has no use for them."""

    def __init__(self, tag: str) -> None:
        self._declared: list[tuple[str, Callable[..., Any], dict[str, Any]]] = []
        super().__init__(tags=[tag], route_class=Door)

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        self._declared.append((path, endpoint, more))

    @property
    def routes(self) -> list[BaseRoute]:
        declared, self._declared = self._declared, []
        for path, endpoint, more in declared:
            super().add_api_route(path, endpoint, **more)
        return self._made

    @routes.setter
    def routes(self, made: list[BaseRoute]) -> None:
        self._made = made


def router(tag: str) -> APIRouter:
    """The router of one resource module; every route on it is a door."""
    return _Doors(tag)


def _domain_of(endpoint: Callable[..., Any]) -> str:
    """`thenga.domains.billing.api.plans` belongs to billing; a test says it in `__domain__`."""
    parts = endpoint.__module__.split(".")
    return parts[2] if parts[:2] == ["thenga", "domains"] else getattr(endpoint, "__domain__", "")


def _guard(request: Request) -> None:
    facts = request.scope["thenga"]
    if not facts.body:
        return
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType("Send the body as application/json.")
    facts.json = read_json(facts.body)


def _rendered(request: Request, answer: object, status: int) -> Response:
    """What the route returned as the answer that leaves; 304 where the caller has these bytes."""
    if isinstance(answer, Response):
        answer.headers["Cache-Control"] = "no-store"
        return answer
    body, headers = to_json(answer), _whereabouts(request, answer, status)
    version = getattr(answer, "version", None)
    if isinstance(version, int):
        tag = _tag(version, body)
        headers |= {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": _OF_THE_CALLER}
        asked = request.scope["thenga"].headers.get(b"if-none-match")
        # A list of tags, or one that a proxy made weak, holds the tag with its quotes all the same.
        if asked is not None and request.method == "GET" and tag.encode() in asked:
            return Response(status_code=304, headers=headers)
        if isinstance(answer, BaseModel) and secrets_of(type(answer)):
            headers["Cache-Control"] = "no-store"  # shown once, so kept nowhere
    else:
        headers["Cache-Control"] = "no-store"
    return Response(body, status, headers, media_type="application/json")


def _tag(version: int, body: bytes) -> str:
    """The version for `If-Match`, and the bytes for `If-None-Match` (docs/decisions/0023)."""
    return f'"{version}-{blake2b(body, digest_size=8).hexdigest()}"'


def _whereabouts(request: Request, answer: object, status: int) -> dict[str, str]:
    """Location and Link, from what the route returned."""
    headers: dict[str, str] = {}
    # What is known by a code of its own, or stands elsewhere, says where; None is nowhere.
    path = quote(request.scope["path"])
    beside = f"{path}/{getattr(answer, 'id', '')}" if status == 201 else None
    own = getattr(answer, "own_path", beside)
    if status in (201, 202) and own is not None:
        headers["Location"] = own
    if isinstance(answer, PageOf) and answer.next_cursor is not None:
        asked = [part for part in request.query_params.multi_items() if part[0] != "cursor"]
        query = urlencode([*asked, ("cursor", answer.next_cursor)])
        headers["Link"] = f'<{path}?{query}>; rel="next"'
    return headers


def _kept(work: Work, response: Response, answer: object) -> Answer | None:
    if work.idempotency is None:
        return None
    body = bytes(response.body)
    if isinstance(answer, BaseModel):
        body = without_secrets(answer) or body
    headers = {n: response.headers[n] for n in _KEPT_HEADERS if n in response.headers}
    return Answer(response.status_code, headers, body)


def _again(answer: Answer) -> Response:
    headers = answer.headers | {"Idempotency-Replayed": "true", "Cache-Control": "no-store"}
    return Response(answer.body, status_code=answer.status, headers=headers)
