"""The edge, driven through a small application and by raw ASGI calls."""

import asyncio
import io
import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Iterator
from uuid import UUID

import asyncpg
import httpx2
import pytest
import structlog
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.kernel.running import until_true
from thenga.kernel.errors import NotFound
from thenga.kernel.http.bounds import Bounds
from thenga.kernel.http.observe import Edge, metrics
from thenga.kernel.http.proxies import Proxies
from thenga.kernel.http.tracing import Spans
from thenga.kernel.process import logs
from thenga.kernel.process.settings import Settings

CANARY = "canary-5521"
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def lines() -> Iterator[io.BytesIO]:
    """What the process would write; logging is put back as it was."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stream = io.BytesIO()
    logs.configure(True, stream=stream)
    yield stream
    root.handlers, root.level = before, level
    structlog.reset_defaults()


def read(lines: io.BytesIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


async def show(request: Request) -> Response:
    facts = request.scope["thenga"]
    return JSONResponse(
        {"id": facts.request_id, "parent": facts.traceparent, "network": facts.network}
    )


async def refuse(request: Request) -> Response:
    raise NotFound("There is no such bid.")


async def fail(request: Request) -> Response:
    raise RuntimeError("the wheel came off")


async def fail_half_way(request: Request) -> Response:
    async def content() -> AsyncIterator[bytes]:
        yield b"half"
        raise RuntimeError("the wheel came off")

    return StreamingResponse(content())


async def fail_in_database(request: Request) -> Response:
    raise asyncpg.UniqueViolationError(f"Key (email)=({CANARY}) exists.")


async def dawdle(request: Request) -> Response:
    await asyncio.sleep(600)
    raise AssertionError


async def stream(request: Request) -> Response:
    """Goes on once the test opens the gate."""

    async def content() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        await request.app.state.gate.wait()
        yield b"data: 2\n\n"

    return StreamingResponse(content(), media_type="text/event-stream")


ROUTES = [
    Route("/things/{id}", show, methods=["GET", "POST"]),
    Route("/refuse", refuse),
    Route("/fail", fail),
    Route("/fail-half-way", fail_half_way),
    Route("/fail-in-database", fail_in_database),
    Route("/dawdle", dawdle),
    Route("/stream", stream),
    Route("/health/live", show),
]


def client(
    *,
    bounds: Bounds | None = None,
    address: str = "10.0.0.9",
    gate: asyncio.Event | None = None,
    **settings: object,
) -> httpx2.AsyncClient:
    app = Starlette(routes=ROUTES)
    app.state.gate = gate
    given = Settings.model_validate({"base_url": "https://api.example", **settings})
    app.add_middleware(Edge, settings=given, bounds=bounds or Bounds(process=9, tenant=9))
    transport = httpx2.ASGITransport(app=app, client=(address, 5))
    return httpx2.AsyncClient(transport=transport, base_url="http://test")


async def test_a_good_request_id_is_taken_and_a_bad_one_replaced(lines: io.BytesIO) -> None:
    async with client() as http:
        taken = await http.get("/things/1", headers={"X-Request-Id": "order-2026.11_14"})
        made = [
            await http.get("/things/1", headers={"X-Request-Id": bad})
            for bad in ("short", "x" * 129, "with blank here", 'quote"inside', "")
        ]

    assert taken.headers["x-request-id"] == taken.json()["id"] == "order-2026.11_14"
    for response in made:
        assert UUID(response.headers["x-request-id"]).version == 7
        assert response.json()["id"] == response.headers["x-request-id"]


async def test_only_a_well_formed_traceparent_is_kept(lines: io.BytesIO) -> None:
    bad = [PARENT.upper(), PARENT[:-1], "ff" + PARENT[2:], f"00-{'0' * 32}-00f067aa0ba902b7-01"]
    async with client() as http:
        kept = await http.get("/things/1", headers={"traceparent": PARENT})
        dropped = [await http.get("/things/1", headers={"traceparent": text}) for text in bad]

    assert kept.json()["parent"] == PARENT
    assert [response.json()["parent"] for response in dropped] == [None] * 4
    assert read(lines)[0]["traceparent"] == PARENT


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "network"),
    [
        ("", "198.51.100.7", ["203.0.113.5"], "198.51.100.7"),
        ("10.0.0.0/8", "198.51.100.7", ["203.0.113.5"], "198.51.100.7"),
        ("10.0.0.0/8", "10.0.0.2", ["1.1.1.1, 203.0.113.5"], "203.0.113.5"),
        ("10.0.0.0/8, 192.0.2.1", "10.0.0.2", ["1.1.1.1, 203.0.113.5, 192.0.2.1"], "203.0.113.5"),
        ("10.0.0.0/8", "10.0.0.2", ["1.1.1.1", "203.0.113.5"], "203.0.113.5"),
        ("10.0.0.0/8", "10.0.0.2", [], "10.0.0.2"),
        ("10.0.0.0/8", "10.0.0.2", ["203.0.113.5, nonsense"], "10.0.0.2"),
        ("10.0.0.0/8", "::ffff:10.0.0.2", ["[2001:db8::5]:443"], "2001:db8::5"),
        ("10.0.0.0/8", "10.0.0.2", ["203.0.113.5:8080"], "203.0.113.5"),
        ("", "testclient", [], "0.0.0.0"),
    ],
)
def test_only_our_proxies_are_believed(
    trusted: str, peer: str, forwarded: list[str], network: str
) -> None:
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]

    assert Proxies(trusted).client({"client": (peer, 5), "headers": headers}) == network


async def test_a_line_tells_of_the_request_and_keeps_its_secrets(lines: io.BytesIO) -> None:
    async with client() as http:
        await http.post(
            f"/things/{CANARY}?q={CANARY}",
            content=CANARY,
            headers={"Authorization": f"Bearer {CANARY}", "Cookie": CANARY},
        )

    [line] = read(lines)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", str(line["at"]))
    assert line["event"] == "http.request.served"
    assert (line["method"], line["route"], line["status"]) == ("POST", "/things/{id}", 200)
    assert {"ms", "request_id", "level"} <= line.keys()
    assert CANARY not in lines.getvalue().decode()


async def test_defect_is_logged_once_and_hidden_from_the_caller(
    lines: io.BytesIO,
) -> None:
    async with client() as http:
        response = await http.get("/fail")

    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "internal-error"
    assert response.json()["requestId"] == response.headers["x-request-id"]
    assert "wheel" not in response.text
    failed, served = read(lines)
    assert failed["event"] == "http.request.failed"
    assert "in fail" in str(failed["error"])
    assert "RuntimeError: the wheel came off" in str(failed["error"])
    assert failed["request_id"] == served["request_id"] == response.json()["requestId"]
    assert served["status"] == 500


async def test_values_in_the_words_of_the_database_reach_no_log(lines: io.BytesIO) -> None:
    async with client() as http:
        response = await http.get("/fail-in-database")

    assert response.status_code == 500
    assert "sqlstate 23505" in lines.getvalue().decode()
    assert CANARY not in lines.getvalue().decode() + response.text


async def test_defect_after_the_first_byte_sends_no_second_answer(
    lines: io.BytesIO,
) -> None:
    sent: list[Message] = []

    async def keep(message: Message) -> None:
        sent.append(message)

    await edge_of(Starlette(routes=ROUTES))(scope("/fail-half-way"), silence, keep)

    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert [line["event"] for line in read(lines)] == ["http.request.failed", "http.request.served"]


async def test_a_problem_that_nobody_else_told_is_told(lines: io.BytesIO) -> None:
    async with client() as http:
        response = await http.get("/refuse?q=1")

    assert response.status_code == 404
    assert response.json()["detail"] == "There is no such bid."
    assert response.json()["instance"] == "/refuse"
    assert [line["event"] for line in read(lines)] == ["http.request.served"]


async def test_a_request_over_its_time_is_stopped(lines: io.BytesIO) -> None:
    bounds = Bounds(process=9, tenant=9)
    async with client(bounds=bounds, request_seconds=0.05) as http:
        response = await http.get("/dawdle")

    assert (response.status_code, response.json()["code"]) == (503, "overloaded")
    assert response.headers["retry-after"] == "1"
    assert bounds.in_flight == 0


async def test_a_full_process_refuses_at_once_but_says_that_it_lives(lines: io.BytesIO) -> None:
    bounds = Bounds(process=1, tenant=9)
    async with client(bounds=bounds, request_seconds=600) as http:
        slow = asyncio.create_task(http.get("/dawdle"))
        await until_true(lambda: bounds.in_flight == 1)
        refused = await http.get("/things/1")
        alive = await http.get("/health/live")
        waited = slow.done()
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)

    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert refused.headers["retry-after"] == "1"
    assert not waited
    assert alive.status_code == 200
    assert bounds.in_flight == 0


async def test_event_stream_outlives_request_limits(
    lines: io.BytesIO,
) -> None:
    bounds, gate = Bounds(process=1, tenant=9), asyncio.Event()
    async with (
        client(bounds=bounds, gate=gate, request_seconds=1) as hasty,
        client(bounds=bounds, request_seconds=600) as patient,
    ):
        streaming = asyncio.create_task(hasty.get("/stream"))
        await until_true(lambda: bounds.streams == 1)
        beside = await patient.get("/things/1")
        later = await hasty.get("/dawdle")  # stopped at its limit, which is the stream's, too
        gate.set()
        response = await streaming

    assert response.text == "data: 1\n\ndata: 2\n\n"
    assert (beside.status_code, later.status_code) == (200, 503)
    assert [line["status"] for line in read(lines)] == [200, 503, 200]
    assert (bounds.in_flight, bounds.streams) == (0, 0)


async def test_one_event_stream_too_many_is_refused_before_it_begins(lines: io.BytesIO) -> None:
    sent: list[Message] = []

    async def keep(message: Message) -> None:
        sent.append(message)

    bounds = Bounds(process=1, tenant=9)
    bounds.streams = 1
    await edge_of(Starlette(routes=ROUTES), bounds)(scope("/stream"), silence, keep)

    assert [message.get("status") for message in sent] == [503, None]
    assert (bounds.in_flight, bounds.streams) == (0, 1)
    assert [line["event"] for line in read(lines)] == ["http.request.served"]


async def test_a_caller_who_hangs_up_is_no_defect(lines: io.BytesIO) -> None:
    async def broken(message: Message) -> None:
        raise OSError("the pipe is broken")

    bounds = Bounds(process=1, tenant=1)
    await edge_of(Starlette(routes=ROUTES), bounds)(scope("/things/1"), nothing, broken)

    assert [line["event"] for line in read(lines)] == ["http.request.served"]
    assert bounds.in_flight == 0


async def test_metrics_count_by_template_and_class_of_status(lines: io.BytesIO) -> None:
    async with client() as http:
        for number in range(3):
            await http.get(f"/things/{number}")
        await http.get("/nowhere/at/all")
        await http.request("BREW", "/things/1")

    labels = {"method": "GET", "route": "/things/{id}", "status": "2xx"}
    counted = REGISTRY.get_sample_value("thenga_http_request_seconds_count", labels)
    text, media_type = metrics()
    assert counted is not None
    assert counted >= 3
    assert media_type.startswith("text/plain")
    assert b'route="unmatched",status="4xx"' in text
    assert b'method="OTHER"' in text
    assert b"thenga_http_in_flight" in text
    assert b"thenga_http_shed_total" in text
    assert b"/nowhere" not in text


async def test_a_span_has_the_name_of_its_route_and_no_query() -> None:
    found = InMemorySpanExporter()
    traced = Edge(
        bare,
        settings=Settings(trace_ratio=1, otlp_endpoint=""),
        bounds=Bounds(process=9, tenant=9),
    )
    assert traced.spans.provider is not None
    traced.spans.provider.add_span_processor(SimpleSpanProcessor(found))

    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=traced), base_url="http://test"
    ) as http:
        await http.get(f"/things/7?q={CANARY}", headers={"traceparent": PARENT})
        await http.get("/health/live")

    [span] = found.get_finished_spans()
    assert span.context is not None
    assert f"{span.context.trace_id:032x}" == PARENT[3:35]
    assert span.name == "GET /things/{id}"
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 200
    assert CANARY not in span.to_json()
    assert not Spans(Settings(trace_ratio=0)).on


async def bare(scope: Scope, receive: Receive, send: Send) -> None:
    scope["route"] = ROUTES[0]
    headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})


async def nothing() -> Message:
    return {"type": "http.request", "body": b""}


async def silence() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def swallow(message: Message) -> None:
    return


def edge_of(app: Starlette | None = None, bounds: Bounds | None = None) -> Edge:
    # Starlette's own error page stands outside of its middleware, as in production.
    inner = app.router if app else bare
    return Edge(inner, settings=Settings(), bounds=bounds or Bounds(process=9, tenant=9))


def scope(path: str) -> Scope:
    names = (b"host", b"user-agent", b"accept", b"authorization", b"content-type")
    headers = [(name, b"something") for name in names]
    asked = {"type": "http", "method": "GET", "path": path, "query_string": b""}
    return asked | {"headers": headers, "client": ("127.0.0.1", 5)}


async def calls_a_request(app: ASGIApp) -> float:
    """Function calls of one request: the same on a busy machine as on an idle one."""
    seen: list[str] = []
    await app(scope("/things/1"), nothing, swallow)  # what is made once is not counted
    sys.setprofile(lambda _, event, __: seen.append(event))
    for _ in range(20):
        await app(scope("/things/1"), nothing, swallow)
    sys.setprofile(None)
    return (seen.count("call") + seen.count("c_call")) / 20


async def test_what_the_edge_costs(lines: io.BytesIO, monkeypatch: pytest.MonkeyPatch) -> None:
    cost = await calls_a_request(edge_of()) - await calls_a_request(bare)
    record = Edge._record
    monkeypatch.setattr(Edge, "_record", lambda *to: [record(*to) for _ in range(2)])
    planted = await calls_a_request(edge_of()) - await calls_a_request(bare)

    print(f"\nedge_calls_per_request={cost:.1f} planted={planted:.1f}")
    assert cost <= 120 < planted
