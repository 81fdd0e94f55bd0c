"""Limits against a real Redis that is started, stopped and killed here."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import pytest
from redis.asyncio import Redis

from thenga.kernel.errors import RateLimited
from thenga.kernel.http import limits as declared
from thenga.kernel.http.limits import Limits, Rule, Window, seconds_to_wait
from thenga.kernel.ports.once import WINDOW, WINDOW_ALONE, Once
from thenga.kernel.values import networks
from thenga.tooling.dev.processes import free_ports, wait

HOUR = 3600
ATTEMPTS = 12_000
PROCESSES = 2


class RedisServer:
    """One redis-server of our own, on a port that stays the same over a restart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (self.port,) = free_ports(1)
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        binary = shutil.which("redis-server")
        assert binary, "redis-server must be on the PATH"
        options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "."]
        self.process = subprocess.Popen(
            [binary, "--port", str(self.port), *options],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
        )
        assert wait(self._listens, 60), "redis-server did not start"

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def limits(server: RedisServer) -> AsyncIterator[Limits]:
    limits = Limits(server.url, secret=b"of the test")
    yield limits
    await limits.close()


async def spend(limits: Limits, rule: Rule, account: str, attempts: int) -> dict[str, int]:
    """Try, from several tasks at once, and count the answers."""
    counts = {"redis": 0, "alone": 0, "refused": 0}

    async def try_often() -> None:
        for _ in range(attempts // 10):
            try:
                standing = await limits.hit(rule, "account", account)
                counts["alone" if standing.degraded else "redis"] += 1
            except RateLimited:
                counts["refused"] += 1

    await asyncio.gather(*(try_often() for _ in range(10)))
    return counts


async def work(url: str, lease: int, amount: int) -> None:
    """One process of the flood; a line from the parent lets it go on."""
    # A killed Redis refuses at once. One that answers late would have counted places that nobody
    # was told of, and on a busy machine every answer may be late.
    declared._PATIENCE = 20.0
    limits = Limits(url, secret=b"of the test")
    rule = Rule("flood", amount, HOUR, lease=lease)
    each = ATTEMPTS // PROCESSES // 4
    # Connections and the script are there before anything is counted: a first call that waits for
    # them longer than the limit's patience is decided alone, and its place in Redis is lost.
    warm = Rule("warm", 1_000, HOUR)
    while any(
        one.degraded for one in await asyncio.gather(*(limits.hit(warm, "w") for _ in range(10)))
    ):
        await asyncio.sleep(0.2)
    print(json.dumps(await spend(limits, rule, "a", 2 * each)), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    print(json.dumps(await spend(limits, rule, "a", each)), flush=True)
    print(json.dumps(await spend(limits, rule, "b", each)), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    began = time.monotonic()
    for _ in range(3_000):
        if not (await limits.hit(Rule("after", amount, HOUR, lease=lease), "x")).degraded:
            break
        await asyncio.sleep(0.02)
    answer = {"restored": not limits.degraded, "seconds": round(time.monotonic() - began, 2)}
    print(json.dumps(answer), flush=True)
    await limits.close()


class Worker:
    def __init__(self, url: str, lease: int, amount: int) -> None:
        arguments = [sys.executable, __file__, url, str(lease), str(amount)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        # Other lines are logs of the process itself.
        for line in self.process.stdout:
            if line.startswith("{"):
                return dict(json.loads(line))
        raise AssertionError("the worker ended without an answer")

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@pytest.mark.parametrize("lease", [1, 20])
def test_a_flood_overruns_neither_the_limit_nor_the_stricter_one(
    server: RedisServer, lease: int
) -> None:
    rule = Rule("flood", 2_000, HOUR, lease=lease)
    workers = [Worker(server.url, lease, rule.amount) for _ in range(PROCESSES)]

    before = [worker.answer() for worker in workers]
    server.kill()
    for worker in workers:
        worker.go_on()
    same = [worker.answer() for worker in workers]
    other = [worker.answer() for worker in workers]
    server.start()
    for worker in workers:
        worker.go_on()
    back = [worker.answer() for worker in workers]
    assert [worker.process.wait(60) for worker in workers] == [0] * PROCESSES

    let_in = sum(counts["redis"] for counts in before + same)
    alone = [counts["alone"] for counts in same + other]
    attempts = sum(sum(counts.values()) for counts in before + same + other)
    print(
        f"\nflood lease={lease} attempts={attempts:.0f} "
        f"limit={rule.amount} let_in={let_in:.0f} overrun={max(0, let_in - rule.amount):.0f} "
        f"degraded_limit={rule.degraded} let_in_alone={alone} "
        f"overrun_alone={sum(max(0, n - rule.degraded) for n in alone):.0f} "
        f"restored_seconds={[answer['seconds'] for answer in back]}"
    )
    assert attempts == ATTEMPTS
    assert let_in == rule.amount  # all of it, and not one more
    assert sum(counts["alone"] for counts in before) == 0
    assert max(counts["alone"] for counts in same) <= rule.degraded
    assert [counts["alone"] for counts in other] == [rule.degraded] * PROCESSES
    assert all(answer["restored"] for answer in back)


async def test_redis_killed_during_a_flood_raises_nothing(
    server: RedisServer, limits: Limits
) -> None:
    rule = Rule("sign-in", 400, HOUR)
    flood = asyncio.create_task(spend(limits, rule, "a", 4_000))
    await asyncio.sleep(0.05)
    server.kill()

    counts = await flood

    assert counts["redis"] <= rule.amount
    assert counts["alone"] == rule.degraded  # so the kill did come before the end
    assert sum(counts.values()) == 4_000


@pytest.mark.real_timeouts
async def test_silent_redis_costs_one_timeout_not_one_per_call(
    server: RedisServer, limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = Rule("sign-in", 100_000, HOUR, degraded=100_000)
    asked = count_asked(monkeypatch)
    await _until_restored(limits, rule)
    server.send(signal.SIGSTOP)
    try:
        began = time.monotonic()
        first = await limits.hit(rule, "a")
        waited = time.monotonic() - began
        before = len(asked)
        for _ in range(80):
            await limits.hit(rule, "a")
        later = len(asked) - before
    finally:
        server.send(signal.SIGCONT)

    assert first.degraded
    assert waited >= 0.04
    print(f"\nsilent_redis calls=80 asked={later}")
    assert later < 40
    await _until_restored(limits, rule)


def count_asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What Redis is asked for from now on: how many places each time."""
    asked: list[int] = []
    take = Limits._take

    async def counted(limits: Limits, rule: Rule, key: str, cost: int) -> bool:
        asked.append(cost)
        return await take(limits, rule, key, cost)

    monkeypatch.setattr(Limits, "_take", counted)
    return asked


async def _until_restored(limits: Limits, rule: Rule) -> None:
    async with asyncio.timeout(60):
        while (await limits.hit(rule, "a")).degraded:
            await asyncio.sleep(0.05)


async def test_a_refusal_says_when_to_come_back(limits: Limits) -> None:
    rule = Rule("sign-in", 3, 60)
    for _ in range(3):
        await limits.hit(rule, "a")

    with pytest.raises(RateLimited) as refused:
        await limits.hit(rule, "a")

    seconds = int(refused.value.headers["Retry-After"])
    assert 60 <= seconds <= 81  # the window must pass, and then a third of the next
    assert refused.value.headers["RateLimit"] == f'"sign-in";r=0;t={seconds}'
    assert refused.value.headers["RateLimit-Policy"] == '"sign-in";q=3;w=60'
    assert refused.value.facts == {
        "policy": "sign-in",
        "limit": 3,
        "windowSeconds": 60,
        "retryAfterSeconds": seconds,
    }


async def test_keys_keep_callers_apart_and_tell_nobody_who_they_are(
    server: RedisServer, limits: Limits
) -> None:
    rule = Rule("sign-in", 1, 60)
    await limits.hit(rule, "thandi@example.co.za", "x")
    await limits.hit(rule, "thandi@example.co.z", "ax")

    redis = Redis.from_url(server.url)
    keys = [key.decode() async for key in redis.scan_iter("*")]
    await redis.aclose()

    assert len(keys) == 2
    assert not any("thandi" in key or "example" in key for key in keys)


class Time:
    """Lets time pass, for the limits of this process and for what Redis keeps."""

    def __init__(self, server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self._server, self._ahead = server, 0
        monkeypatch.setattr(declared, "monotonic", lambda: time.monotonic() + self._ahead)

    async def move(self, seconds: int) -> None:
        self._ahead += seconds
        async with Redis.from_url(self._server.url) as redis:
            for key in [key async for key in redis.scan_iter("*")]:
                left = await redis.pttl(key) - seconds * 1000
                await redis.pexpire(key, max(0, left))  # with nothing left it is gone


@pytest.fixture
def passing(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(server, monkeypatch)


async def test_a_lease_ends_with_its_window(
    server: RedisServer, limits: Limits, passing: Time
) -> None:
    rule = Rule("actor", 100, HOUR, lease=20)
    await limits.hit(rule, "a")
    await limits.hit(rule, "a")
    redis = Redis.from_url(server.url)
    [key] = [key async for key in redis.scan_iter("*")]
    taken = int(await redis.get(key) or 0)
    await passing.move(HOUR + 1)

    await limits.hit(rule, "a")

    assert taken == 20
    assert int(await redis.get(key) or 0) == 20  # asked anew; the old eighteen are gone
    await redis.aclose()


async def test_two_processes_with_leases_stay_within_every_window(
    server: RedisServer, passing: Time
) -> None:
    rule = Rule("actor", 60, HOUR, lease=20)
    pair = [Limits(server.url), Limits(server.url)]
    let_in = []
    for _ in range(3):
        let_in.append(await _let_in(pair, rule))
        await passing.move(2 * HOUR)
    for limits in pair:
        await limits.close()

    assert let_in == [rule.amount] * 3


async def _let_in(places: list[Limits], rule: Rule) -> int:
    """How many calls are let in by turns until all are refused."""
    total, allowed = 0, 1
    while allowed:
        allowed = 0
        for limits in places:
            with suppress(RateLimited):
                await limits.hit(rule, "a")
                allowed += 1
        total += allowed
    return total


@pytest.mark.parametrize(
    ("window", "wait"),
    [
        (Window(0, 0.0, 10, 90.0), 30 + 6.0),  # full: the window ends, then one place fades
        (Window(10, 30.0, 5, 90.0), 0.0),  # 5 weigh, 5 count: one more fades within a moment
        (Window(10, 60.0, 5, 120.0), 30.0),
        (Window(10, 6.0, 0, 66.0), 0.0),
    ],
)
def test_the_wait_is_until_the_next_place(window: Window, wait: float) -> None:
    assert seconds_to_wait(Rule("r", 10, 60), 10, window) == pytest.approx(wait, abs=0.01)


def test_rule_is_four_times_stricter_without_redis_by_default() -> None:
    assert Rule("actor", 600, 60, lease=20).degraded == 150
    assert Rule("one", 2, 60).degraded == 1
    with pytest.raises(ValueError, match="lease"):
        Rule("wrong", 5, 60, lease=6)


async def test_a_lease_saves_calls_of_redis(
    limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, micros = count_asked(monkeypatch), {}
    for lease in (1, 20):
        rule = Rule(f"cost-{lease}", 1_000_000, HOUR, lease=lease)
        began = time.process_time()
        for _ in range(2_000):
            await limits.hit(rule, "a")
        micros[lease] = (time.process_time() - began) / 2_000 * 1e6

    print(f"\nlimit_hit_cpu_us lease_1={micros[1]:.1f} lease_20={micros[20]:.1f}")
    assert Counter(asked) == {1: 2_000, 20: 100}


async def test_a_signed_call_is_used_once_over_all_processes(server: RedisServer) -> None:
    nonces = [token_hex(16) for _ in range(200)]
    places = [Limits(server.url), Limits(server.url)]
    one, other = (Once(limits.remember) for limits in places)

    first = [await one.take(nonce, age=WINDOW) for nonce in nonces]
    again = [await once.take(nonce, age=0) for nonce in nonces for once in (one, other)]

    print(f"calls={len(nonces)} replays={len(again)} accepted={sum(again)}")
    assert all(first)
    assert not any(again)
    for limits in places:
        await limits.close()


async def test_a_signed_call_lives_seconds_while_redis_is_away(
    server: RedisServer, limits: Limits
) -> None:
    once, used = Once(limits.remember), token_hex(16)
    assert await once.take(used, age=0)
    server.kill()

    assert not await once.take(used, age=0)
    assert await once.take(token_hex(16), age=WINDOW_ALONE)
    assert not await once.take(token_hex(16), age=WINDOW_ALONE + 1)


@pytest.mark.rule("SEC-65")
def test_an_address_counts_with_its_network() -> None:
    assert networks.counted("196.25.1.7") == ("196.25.1.7",)
    assert networks.counted("::ffff:196.25.1.7") == ("196.25.1.7",)
    assert networks.counted("2001:db8:1:2:3::4") == ("2001:db8:1:2::/64", "2001:db8:1::/48")
    assert networks.counted("no address") == ("no address",)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
