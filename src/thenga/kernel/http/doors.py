"""The door: what happens around every route, in this order (security rule 25).

Limit by address, authenticate, limit by actor, authorize, read and validate, act, render, commit,
answer. FastAPI validates and renders in the middle; the unit of work is finished after the answer
has been rendered and before its first byte leaves, so a failed commit is never told as a success.
"""

import functools
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import asyncpg
from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel

from thenga.kernel.db.idempotency import Answer, Replay
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, UnsupportedMediaType
from thenga.kernel.events.inbox import AlreadyTaken
from thenga.kernel.guard import read_json
from thenga.kernel.http.bodies import PageOf, without_secrets
from thenga.kernel.http.bounds import check_length, read_body
from thenga.kernel.http.entrances import Entrance
from thenga.kernel.http.problems import Retryable, from_database
from thenga.kernel.http.reference import describe
from thenga.kernel.http.shared import Shared, shared_of

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

_KEPT_HEADERS = ("location", "etag", "content-type")


class WithoutEntrance(TypeError):
    """A route has no way in, or more than one; the application does not start with it."""


class Door(APIRoute):
    """A route with exactly one entrance."""

    entrance: Entrance
    domain: str

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        unwrapped = getattr(endpoint, "__wrapped__", None)
        wrapped = endpoint if unwrapped is not None else _noting_the_answer(endpoint)
        super().__init__(path, wrapped, **more)
        ways_in = [d.call for d in self.dependant.dependencies if isinstance(d.call, Entrance)]
        if len(ways_in) != 1:
            raise WithoutEntrance(f"{path} has {len(ways_in)} entrances, it needs exactly one")
        self.entrance = ways_in[0]
        self.domain = endpoint.__module__.split(".")[2] if "domains" in endpoint.__module__ else ""
        describe(self)

    def get_route_handler(self) -> Handler:
        inside = super().get_route_handler()

        async def handle(request: Request) -> Response:
            shared = shared_of(request)
            await _read(request, self, shared)
            try:
                return await self._pass(request, inside, shared)
            except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                # A deadlock, a serialization failure or a plan that a migration made stale: the
                # whole unit of work is done once more (dependencies, gotcha 5).
                if not isinstance(from_database(error), Retryable) or self.entrance.streams:
                    raise
            return await self._pass(request, inside, shared)

        return handle

    async def _pass(self, request: Request, inside: Handler, shared: Shared) -> Response:
        unit = await self.entrance.open(request, self.domain)
        tenant = unit._scope.organization_id
        if tenant is not None:
            shared.bounds.enter_tenant(tenant)
        try:
            _guard(request)
            request.scope["thenga.unit"] = unit
            response = await inside(request)
            _label(request, response, unit)
            if isinstance(unit, Work):
                await unit.finish(_kept(unit, response))
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


def router(tag: str) -> APIRouter:
    """The router of one resource module; every route on it is a door."""
    return APIRouter(tags=[tag], route_class=Door)


def _noting_the_answer(endpoint: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Let the door see what a route returns, so that headers can be made of it."""

    @functools.wraps(endpoint)
    async def noting(**values: Any) -> Any:
        result = await endpoint(**values)
        for value in values.values():
            if isinstance(value, Reader):
                value.answer = result
        return result

    return noting


async def _read(request: Request, door: Door, shared: Shared) -> None:
    """Take the body in, bounded; what it holds is looked at only after the caller was let in."""
    if door.entrance.streams or request.method in ("GET", "HEAD"):
        return
    limit = shared.host.settings.body_bytes
    check_length(request.headers.get("content-length"), limit)
    request._body = await read_body(request.receive, limit)


def _guard(request: Request) -> None:
    body = getattr(request, "_body", b"")
    if not body:
        return
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType("Send the body as application/json.")
    request._json = read_json(body)


def _label(request: Request, response: Response, unit: Reader) -> None:
    """ETag, 304, Location and Link, from what the route returned."""
    answer = unit.answer
    version = getattr(answer, "version", None)
    if isinstance(version, int):
        tag = f'"{version}"'
        response.headers["ETag"] = tag
        if request.method == "GET" and request.headers.get("if-none-match") == tag:
            response.status_code = 304
            response.body = b""
            del response.headers["content-length"]
    if response.status_code == 201 and "location" not in response.headers:
        found = getattr(answer, "id", None)
        if found is not None:
            response.headers["Location"] = f"{request.url.path}/{found}"
    if isinstance(answer, PageOf) and answer.next_cursor is not None:
        after = request.url.include_query_params(cursor=answer.next_cursor)
        response.headers["Link"] = f'<{after.path}?{after.query}>; rel="next"'
    if "cache-control" not in response.headers:
        response.headers["Cache-Control"] = "private, no-cache" if version else "no-store"


def _kept(work: Work, response: Response) -> Answer | None:
    if work.idempotency is None:
        return None
    body = bytes(response.body)
    if isinstance(work.answer, BaseModel):
        body = without_secrets(work.answer) or body
    headers = {n: response.headers[n] for n in _KEPT_HEADERS if n in response.headers}
    return Answer(response.status_code, headers, body)


def _again(answer: Answer) -> Response:
    headers = answer.headers | {"Idempotency-Replayed": "true", "Cache-Control": "no-store"}
    return Response(answer.body, status_code=answer.status, headers=headers)
