"""One port, asked directly, through JSON and over a real socket: the answers must not differ."""

import asyncio
import socket
from abc import abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
import uvicorn
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.through_json import through_json
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.errors import DependencyUnavailable, Overloaded, Problem, RateLimited
from thenga.kernel.http.port_routes import routes
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.ports.remote import CallContext, calling, remote

SECRET = bytes(range(32))
NOON = datetime(2031, 6, 30, 12, tzinfo=UTC)
FIGURES: Counter[str] = Counter()


class Item(BaseModel):
    sku: str
    price: Decimal
    parts: list["Item"] = []


class Quote(BaseModel):
    quote_id: UUID
    at: datetime
    items: list[Item]
    note: str | None
    approved: bool | None = None


class Quotes(Port, name="probe.quotes", timeout=20.0):
    @abstractmethod
    async def describe(
        self, *, quote_id: UUID, at: datetime, items: list[Item], note: str | None = "none given"
    ) -> Quote: ...

    @abstractmethod
    async def many(self, *, ids: list[UUID], factor: Decimal) -> list[Quote | Decimal | None]: ...

    @abstractmethod
    async def refuse(self, *, code: str) -> None: ...

    @abstractmethod
    async def stall(self) -> None: ...

    @abstractmethod
    async def caller(self) -> list[str]: ...

    @idempotent
    @abstractmethod
    async def record(self, *, key: str) -> int: ...


class QuoteSpent(Problem):
    code, status, title = "probe-quote-spent", 409, "The quote is spent"

    def __init__(self, quote_id: UUID) -> None:
        super().__init__(f"Quote {quote_id} is spent", quoteId=str(quote_id), left=[1, None])


class LocalQuotes(Quotes):
    async def describe(
        self, *, quote_id: UUID, at: datetime, items: list[Item], note: str | None = "none given"
    ) -> Quote:
        FIGURES["port_calls"] += 1
        return Quote(quote_id=quote_id, at=at, items=items, note=note)

    async def many(self, *, ids: list[UUID], factor: Decimal) -> list[Quote | Decimal | None]:
        FIGURES["port_calls"] += 1
        return [*(Quote(quote_id=one, at=NOON, items=[], note=None) for one in ids), factor, None]

    async def refuse(self, *, code: str) -> None:
        FIGURES["port_calls"] += 1
        refusals: dict[str, Problem] = {
            "spent": QuoteSpent(UUID(int=7)),
            "limited": RateLimited(headers={"Retry-After": "9"}),
            "overloaded": Overloaded(),
        }
        raise refusals[code]

    async def stall(self) -> None:
        FIGURES["port_calls"] += 1
        await asyncio.Event().wait()

    async def caller(self) -> list[str]:
        FIGURES["port_calls"] += 1
        context = calling.get()
        return [context.actor, context.request_id, context.traceparent]

    async def record(self, *, key: str) -> int:
        FIGURES["port_calls"] += 1
        return len(key)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[str]:
    # Without the protocol named, asyncio leaves Nagle on and each answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, lifespan="off", log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:  # uvicorn offers no event to wait for
        await asyncio.sleep(0.005)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await running


def app_serving(implementation: Quotes) -> Starlette:
    bindings = Bindings()
    bindings.bind(Quotes, implementation)
    return Starlette(routes=routes(bindings, [Quotes], SECRET, now=lambda: NOON))


@pytest.fixture(scope="module")
async def address() -> AsyncIterator[str]:
    async with serving(app_serving(LocalQuotes())) as address:
        yield address


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        yield client


Reach = Callable[[str], Quotes]


@pytest.fixture(scope="module")
def reach(client: httpx2.AsyncClient) -> Reach:
    return lambda address: remote(Quotes, address, secret=SECRET, client=client, now=lambda: NOON)


@pytest.fixture(params=["direct", "in_process", "remote"])
def quotes(request: pytest.FixtureRequest, address: str, reach: Reach) -> Quotes:
    local = LocalQuotes()
    implementations: dict[str, Quotes] = {
        "direct": local,
        "in_process": through_json(Quotes, local),
        "remote": reach(address),
    }
    bindings = Bindings()
    bindings.bind(Quotes, implementations[request.param])
    return bindings.of(Quotes)


@pytest.fixture(params=["in_process", "remote"])
def wired(request: pytest.FixtureRequest, address: str, reach: Reach) -> Quotes:
    implementations: dict[str, Quotes] = {
        "in_process": through_json(Quotes, LocalQuotes()),
        "remote": reach(address),
    }
    return implementations[request.param]


async def test_values_arrive_as_they_were_sent(quotes: Quotes) -> None:
    items = [Item(sku="é\n☃", price=Decimal("0.10"), parts=[Item(sku="", price=Decimal("1E+3"))])]
    at = datetime(2031, 6, 30, 23, 59, 59, 999999, tzinfo=UTC)

    quote = await quotes.describe(quote_id=UUID(int=3), at=at, items=items, note=None)

    assert quote == Quote(quote_id=UUID(int=3), at=at, items=items, note=None)
    assert str(quote.items[0].price) == "0.10"
    assert quote.approved is None


async def test_omitted_parameter_takes_the_answering_sides_default(quotes: Quotes) -> None:
    quote = await quotes.describe(quote_id=UUID(int=3), at=NOON, items=[])

    assert quote.note == "none given"


async def test_lists_of_unions_keep_the_type_of_each_member(quotes: Quotes) -> None:
    answer = await quotes.many(ids=[UUID(int=1), UUID(int=2)], factor=Decimal("1.50"))

    assert [type(one) for one in answer] == [Quote, Quote, Decimal, type(None)]
    assert str(answer[2]) == "1.50"


async def test_problem_returns_as_its_class_with_all_members(
    quotes: Quotes,
) -> None:
    with pytest.raises(QuoteSpent) as spent:
        await quotes.refuse(code="spent")
    with pytest.raises(RateLimited) as limited:
        await quotes.refuse(code="limited")

    assert spent.value.detail == f"Quote {UUID(int=7)} is spent"
    assert spent.value.facts == {"quoteId": str(UUID(int=7)), "left": [1, None]}
    assert limited.value.headers == {"Retry-After": "9"}


async def test_actor_request_and_trace_reach_the_answering_side(quotes: Quotes) -> None:
    actor = '{"kind": "user", "name": "Thandō\\n100%"}\n'
    token = calling.set(CallContext(actor, "req-1", "00-aa-bb-01"))

    heard = await quotes.caller()

    calling.reset(token)
    assert heard == [actor, "req-1", "00-aa-bb-01"]
    assert await quotes.caller() == ["", "", ""]


async def test_undeclared_arguments_are_refused_as_a_callers_error(
    quotes: Quotes,
) -> None:
    untyped: Any = quotes

    with pytest.raises(TypeError):
        await untyped.record(key="k", other=1)
    with pytest.raises(TypeError):
        await untyped.record()


async def test_invalid_arguments_are_refused_as_a_callers_error(wired: Quotes) -> None:
    untyped: Any = wired

    with pytest.raises(TypeError):
        await untyped.record(key=object())


async def test_no_answer_in_time_is_silence(wired: Quotes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Quotes, "port_timeout", 0.4)
    began = perf_counter()

    async with asyncio.timeout(60):  # `stall` never answers
        with pytest.raises(DependencyUnavailable) as silent:
            await wired.stall()

    assert silent.value.facts == {"dependency": "probe.quotes"}
    assert perf_counter() - began > 0.35


async def test_a_failure_of_the_other_side_is_silence(wired: Quotes) -> None:
    with pytest.raises(DependencyUnavailable) as silent:
        await wired.refuse(code="overloaded")

    assert silent.value.facts == {"dependency": "probe.quotes"}


async def test_a_dead_server_is_silence_at_once(reach: Reach) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    async with asyncio.timeout(15):  # the port itself would wait longer
        with pytest.raises(DependencyUnavailable) as silent:
            await reach(f"http://127.0.0.1:{port}").caller()

    assert silent.value.facts == {"dependency": "probe.quotes"}


async def test_own_misconfiguration_is_not_shown_to_the_customer(
    address: str, client: httpx2.AsyncClient, reach: Reach
) -> None:
    stranger = remote(Quotes, address, secret=bytes(32), client=client, now=lambda: NOON)
    async with serving(Starlette()) as elsewhere:
        for wrong in (stranger, reach(elsewhere)):
            with pytest.raises(DependencyUnavailable):
                await wrong.caller()


def flaky(app: ASGIApp, failures: int, seen: list[str]) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["path"])
        if len(seen) > failures:
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 503, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return answer


async def test_only_idempotent_methods_are_asked_again(reach: Reach) -> None:
    seen: list[str] = []
    async with serving(flaky(app_serving(LocalQuotes()), 2, seen)) as address:
        assert await reach(address).record(key="four") == 4
    assert len(seen) == 3

    seen.clear()
    async with serving(flaky(app_serving(LocalQuotes()), 1, seen)) as address:
        with pytest.raises(DependencyUnavailable):
            await reach(address).caller()
    assert len(seen) == 1


async def test_retries_stop_when_the_budget_is_spent(reach: Reach) -> None:
    seen: list[str] = []
    async with serving(flaky(app_serving(LocalQuotes()), 1000, seen)) as address:
        quotes = reach(address)
        for _ in range(40):
            with pytest.raises(DependencyUnavailable):
                await quotes.record(key="k")

    assert len(seen) <= 40 + 3 + 4


@pytest.fixture
def show(pytestconfig: pytest.Config) -> Callable[[str], None]:
    capture: Any = pytestconfig.pluginmanager.getplugin("capturemanager")

    def show(line: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{line}")

    return show


async def test_what_a_call_costs(quotes: Quotes, show: Callable[[str], None]) -> None:
    key = str(uuid4())
    await quotes.record(key=key)

    began = perf_counter()
    for _ in range(500):
        await quotes.record(key=key)
    cost = (perf_counter() - began) / 500 * 1e6

    show(f"{type(quotes).__name__} us_per_call={cost:.1f} port_calls={FIGURES['port_calls']}")
    assert cost < 20_000
