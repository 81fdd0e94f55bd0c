"""What stands beside `/v1` for readers: the reference, the problems and the event catalogue.

Nothing here reaches for an outside host: the scripts of the reference page are served by us.
"""

import asyncio
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from thenga.kernel.errors import PROBLEMS, NotFound, Problem, page_of
from thenga.kernel.http.document import markup
from thenga.kernel.http.document.published import ENCODINGS, Library

_OURS = Path(__file__).parent / "assets"
_KINDS = {".css": "text/css", ".js": "text/javascript"}
_FILES = ("page.css", "find.js")
_REFUSED = re.compile(r"q=0(\.0{0,3})?")
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


def page_routes(library: Library) -> APIRouter:
    """The OpenAPI documents, `/docs`, `/problems` and `/events`; no credentials, nobody's data."""
    router = APIRouter(include_in_schema=False)

    @router.get("/openapi.json")
    async def openapi_document(request: Request) -> Response:
        return await _ready(library, "openapi.json", request)

    @router.get("/openapi.full.json")
    async def openapi_with_examples(request: Request) -> Response:
        return await _ready(library, "openapi.full.json", request)

    @router.get("/openapi/{domain}.json")
    async def openapi_of_domain(request: Request, domain: str) -> Response:
        return await _ready(library, f"openapi.{domain}.json", request)

    @router.get("/events")
    async def event_catalogue(request: Request) -> Response:
        name = "events.json" if _wants_json(request) else "events.html"
        return await _ready(library, name, request, vary="Accept, Accept-Encoding")

    _add_reference(router, library)
    _add_problems(router)
    return router


def _add_reference(router: APIRouter, library: Library) -> None:
    @router.get("/")
    async def first_page() -> Response:
        return RedirectResponse("/docs", headers=_HEADERS)

    @router.get("/docs")
    async def reference_page(request: Request) -> Response:
        return await _ready(library, "docs.html", request)

    @router.get("/docs/{domain}")
    async def domain_reference(request: Request, domain: str) -> Response:
        return await _ready(library, f"docs.{domain}.html", request)

    @router.get("/docs/assets/{name}")
    async def reference_file(name: str) -> Response:
        return Response(_asset(name), media_type=_KINDS[Path(name).suffix], headers=_HEADERS)


async def _ready(
    library: Library, name: str, request: Request, vary: str = "Accept-Encoding"
) -> Response:
    """A document as it was made; 304 where the caller has these bytes."""
    found = await library.get(name)
    if found is None:
        raise NotFound("There is no document with this name. See /docs for the list of domains.")
    encoding = _encoding(request.headers.get("accept-encoding", ""))
    # Another encoding is another sequence of bytes, and a strong tag says so.
    tag = f'"{found.digest}-{encoding}"' if encoding else f'"{found.digest}"'
    headers = _HEADERS | {"ETag": tag, "Vary": vary}
    asked = request.headers.get("if-none-match", "")
    if asked.strip() == "*" or tag in asked:  # a list holds the tag with its quotes all the same
        return Response(status_code=304, headers=headers)
    if encoding:
        headers["Content-Encoding"] = encoding
    body = found.packed[encoding] if encoding else await asyncio.to_thread(found.plain)
    return Response(body, media_type=found.media_type, headers=headers)


def _encoding(accepted: str) -> str | None:
    """The smallest encoding that `Accept-Encoding` names and does not refuse with `q=0`."""
    weights: dict[str, bool] = {}
    for part in accepted.lower().split(","):
        name, _, parameters = part.partition(";")
        weights[name.strip()] = _REFUSED.fullmatch(parameters.strip()) is None
    any_other = weights.get("*", False)
    return next((each for each in ENCODINGS if weights.get(each, any_other)), None)


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
            raise NotFound("There is no problem with this code. See /problems for the full list.")
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
        "description": page_of(kind),
    }


@cache
def _asset(name: str) -> bytes:
    """A file of the pages; only those named here, so no path leads elsewhere."""
    if name not in _FILES:
        raise NotFound()
    return (_OURS / name).read_bytes()


def _either(request: Request, *, json: Callable[[], bytes], html: Callable[[], str]) -> Response:
    """HTML for people, JSON for whoever asks for it and not for HTML."""
    answer = _json(json()) if _wants_json(request) else _html(html())
    answer.headers["Vary"] = "Accept"
    return answer


def _wants_json(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    return "json" in accept and "text/html" not in accept


def _json(text: bytes) -> Response:
    return Response(text, media_type="application/json", headers=_HEADERS)


def _html(text: str) -> Response:
    return Response(text, media_type="text/html; charset=utf-8", headers=_HEADERS)
