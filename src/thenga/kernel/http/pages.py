"""What stands beside `/v1` for readers: the reference, the problems and the event catalogue.

Nothing here reaches for an outside host: the scripts of the reference page are served by us.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import PROBLEMS, NotFound, Problem
from thenga.kernel.events import catalogue
from thenga.kernel.http import markup
from thenga.kernel.http.openapi import document
from thenga.kernel.http.operations import mounted

_OURS = Path(__file__).parent / "assets"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".png": "image/png"}
_OWN_FILES = ("page.css", "reference.css", "reference.js")
_SWAGGER_FILES = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png")
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "public, max-age=300",
}


def page_routes(domains: Sequence[Domain]) -> APIRouter:
    """`/openapi.json`, `/docs`, `/problems` and `/events`; no credentials, nobody's data."""
    router = APIRouter(include_in_schema=False)

    @cache
    def openapi() -> bytes:
        return orjson.dumps(document(mounted(domains).routes, domains))

    @cache
    def asyncapi() -> bytes:
        return orjson.dumps(catalogue.asyncapi(domains))

    @cache
    def events() -> str:
        return markup.event_list(domains)

    @router.get("/openapi.json")
    async def openapi_document() -> Response:
        return _json(openapi())

    @router.get("/events")
    async def event_catalogue(request: Request) -> Response:
        return _either(request, json=asyncapi, html=events)

    _add_reference(router)
    _add_problems(router)
    return router


def _add_reference(router: APIRouter) -> None:
    @router.get("/docs")
    async def reference_page() -> Response:
        return _html(markup.REFERENCE)

    @router.get("/docs/{name}")
    async def reference_file(name: str) -> Response:
        return Response(_asset(name), media_type=_KINDS[Path(name).suffix], headers=_HEADERS)


def _add_problems(router: APIRouter) -> None:
    @router.get("/problems")
    async def problem_list(request: Request) -> Response:
        kinds = sorted(PROBLEMS.values(), key=lambda kind: (kind.status, kind.code))
        return _either(
            request,
            json=lambda: orjson.dumps({"items": [_told(kind) for kind in kinds]}),
            html=lambda: markup.problem_list(kinds),
        )

    @router.get("/problems/{code}")
    async def problem_page(request: Request, code: str) -> Response:
        kind = PROBLEMS.get(code)
        if kind is None:
            raise NotFound("No problem has this code; /problems lists them all.")
        return _either(
            request,
            json=lambda: orjson.dumps(_told(kind)),
            html=lambda: markup.problem_page(kind),
        )


def _told(kind: type[Problem]) -> dict[str, Any]:
    return {
        "type": f"/problems/{kind.code}",
        "code": kind.code,
        "status": kind.status,
        "title": kind.title,
        "description": " ".join((kind.__doc__ or kind.title).split()),
    }


@cache
def _asset(name: str) -> bytes:
    """A file of ours, or one of Swagger UI; only those named here, so no path leads elsewhere."""
    if name in _OWN_FILES:
        return (_OURS / name).read_bytes()
    if name in _SWAGGER_FILES:
        return (_swagger() / name).read_bytes()
    raise NotFound()


def _swagger() -> Path:
    # The package is looked up and not imported: we want its files and run none of its code.
    spec = find_spec("fastapi_swagger")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("fastapi-swagger, which has the files of the reference page")
    return Path(spec.submodule_search_locations[0]) / "resources"


def _either(request: Request, *, json: Callable[[], bytes], html: Callable[[], str]) -> Response:
    """HTML for people, JSON for whoever asks for it and not for HTML."""
    accept = request.headers.get("accept", "")
    answer = _json(json()) if "json" in accept and "text/html" not in accept else _html(html())
    answer.headers["Vary"] = "Accept"
    return answer


def _json(text: bytes) -> Response:
    return Response(text, media_type="application/json", headers=_HEADERS)


def _html(text: str) -> Response:
    return Response(text, media_type="text/html; charset=utf-8", headers=_HEADERS)
