"""Callbacks of all providers at once: nothing forged, nothing twice, no 5xx, any order one end."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import httpx2
import pytest

from tests.providers.loopback import serving, worker
from tests.providers.servers import PayFastServer
from tests.suites import calling_back, flows
from tests.suites.calling_back import COURSES, PROVIDERS, Callers, Tally, Told
from tests.suites.sizes import size
from thenga.domains.billing.adapters import paystack, stripe
from thenga.domains.billing.adapters.providers import sandbox_secret
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.no_retry

_AT_ONCE = 16


@pytest.fixture
async def payfast(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """PayFast says `VALID` to what it sent; forgeries never come that far."""
    async with serving(PayFastServer().app) as url:
        monkeypatch.setenv("THENGA_PAYFAST_URL_BILLING", url)
        yield


async def make(host: Host, calls: int, seed: int) -> list[Told]:
    """Payments in pairs of the same course, until there are enough calls."""
    made: list[Told] = []
    places = await calling_back.places(host, 8)
    callers = Callers(host, host.now(), sandbox_secret(host), seed)
    while sum(len(one.true) + len(one.forged) for one in made) < calls:
        provider, course = callers.chance.choice(PROVIDERS), callers.chance.choice(COURSES)
        for _ in range(2):
            made.append(await callers.payment(provider, course, callers.chance.choice(places)))
    return made


async def send_all(api: httpx2.AsyncClient, told: Sequence[Told], seed: int) -> Tally:
    """Everything in one shuffled stream, many at once."""
    tally, places = Tally(), asyncio.Semaphore(_AT_ONCE)
    chance = Callers(None, None, "", seed).chance  # type: ignore[arg-type]  # only its dice
    stream = [sent for one in told for sent in (*one.true, *one.forged)]
    chance.shuffle(stream)
    answers: Counter[int] = Counter()

    async def one(sent: calling_back.Sent) -> None:
        async with places:
            answer = await api.post(sent.path, content=sent.body, headers=list(sent.headers))
        answers[answer.status_code] += 1

    await asyncio.gather(*(one(sent) for sent in stream))
    tally.calls, tally.answers = len(stream), dict(answers)
    tally.server_errors = sum(n for status, n in answers.items() if status >= 500)
    return tally


async def work_off(host: Host, told: Sequence[Told], tally: Tally) -> None:
    """Let the worker do everything, then compare."""
    async with host.engines.connection("billing", "billing_system") as connection:

        async def quiet() -> bool:
            return await calling_back.waiting(connection) == 0

        async with worker(host):
            await flows.until(quiet, seconds=size(check=120, prove=1200))
        await calling_back.judge(connection, told, tally)
        ends = [
            await connection.fetchval(
                "SELECT status FROM billing.payment WHERE id = $1", one.payment.id
            )
            for one in told
        ]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    tally.twins_apart = sum(one != other for one, other in pairs)


@pytest.mark.rule("BIL-31")
@pytest.mark.rule("BIL-34")
async def test_calls_of_every_kind_and_order(
    api: httpx2.AsyncClient, host: Host, seeded: None, payfast: None
) -> None:
    told = await make(host, size(check=300, prove=10_000), seed=34)

    tally = await send_all(api, told, seed=36)
    await work_off(host, told, tally)

    print(
        f"calls={tally.calls} payments={len(told)} forged_effects={tally.forged_effects} "
        f"double_effects={tally.double_effects} 5xx={tally.server_errors} "
        f"wrong_states={tally.wrong_states} twins_apart={tally.twins_apart} "
        f"answers={tally.answers}"
    )
    assert (tally.forged_effects, tally.double_effects, tally.server_errors) == (0, 0, 0)
    assert (tally.wrong_states, tally.twins_apart) == (0, 0)
    assert tally.answers.keys() == {200, 401}


async def test_a_planted_scheme_that_believes_everybody_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    payfast: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for adapter in (paystack, stripe):
        monkeypatch.setattr(adapter, "which_secret", lambda *_: "current")
    told = await make(host, 120, seed=1)

    tally = await send_all(api, told, seed=2)
    await work_off(host, told, tally)

    assert tally.forged_effects > 0
