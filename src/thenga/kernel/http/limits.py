"""Rate limits: one atomic script in Redis for a window, and a stricter one while Redis is away.

A *lease* makes a limit cheap on a hot path: a process takes several places of the window in one
call and spends them by itself. It cannot overrun the amount over all processes, because a place is
counted in Redis before anybody spends it, and is thrown away when its window ends. The price is
paid by the actor only: places leased and not spent are lost to that window, so keep
`lease` x processes well below `amount`. Limits that guard sign-in have no lease.
"""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor
from time import monotonic
from typing import NamedTuple

import structlog
from limits.aio.storage import MemoryStorage, RedisStorage
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from thenga.kernel.errors import RateLimited
from thenga.kernel.values import networks

_log = structlog.get_logger()

_PATIENCE = 0.05  # seconds that a request waits for Redis before the process decides alone
_CONNECTIONS = 32
_AWAY = (RedisError, OSError, TimeoutError)

# A lease ends this much before its window: Redis tells its times in whole milliseconds.
_MARGIN = 0.01
_MOST_LEASES = 50_000

# The library looks through all keys of a memory storage on each hit (3.5 ms at 20,000 keys), so
# the keys are spread, and what does not fit shares one place: stricter, and bounded.
_SHARDS = 64
_SHARD_KEYS = 1_000

_SITE = 8  # times the amount of a /64 is the amount of a /48


@dataclass(frozen=True, slots=True)
class Rule:
    """So many calls in so many seconds; `degraded` holds for each process while Redis is away."""

    name: str
    amount: int
    seconds: int
    lease: int = 1
    degraded: int = 0  # a quarter of the amount where nothing is said

    def __post_init__(self) -> None:
        if not self.degraded:
            object.__setattr__(self, "degraded", max(1, self.amount // 4))
        if not 1 <= self.lease <= self.amount or not 1 <= self.degraded <= self.amount:
            raise ValueError(f"rule {self.name}: lease and degraded lie between 1 and the amount")


class Standing(NamedTuple):
    """A call that was let in, and whether Redis or the process alone said so."""

    rule: Rule
    degraded: bool


class Window(NamedTuple):
    """What Redis knows of a key: two counts, and the seconds until each is forgotten."""

    previous: int
    previous_left: float
    current: int
    current_left: float


class _Lease:
    """Places of one window that this process may spend without asking."""

    __slots__ = ("ends", "free_at", "key", "lock", "places", "size", "standing")

    def __init__(self, rule: Rule, key: str) -> None:
        self.key = key
        self.standing = Standing(rule, False)
        self.places = 0
        self.ends = 0.0
        self.size = rule.lease
        self.free_at = 0.0  # until then every answer would be no
        self.lock = asyncio.Lock()


class _Circuit:
    """Remembers that Redis is away, so that not every request waits to find it out again."""

    def __init__(self) -> None:
        self.open = False
        self._pause = 0.1
        self._next_try = 0.0

    def lets_through(self) -> bool:
        """One caller in each pause tries; the others do not wait for it."""
        if not self.open:
            return True
        now = monotonic()
        if now < self._next_try:
            return False
        self._next_try = now + self._pause
        return True

    def failed(self, error: Exception) -> None:
        self._pause = min(self._pause * 2, 2.0) if self.open else 0.1
        self._next_try = monotonic() + self._pause
        if not self.open:
            self.open = True
            _log.warning("kernel.limits.degraded", reason=type(error).__name__)

    def worked(self) -> None:
        if self.open:
            self.open = False
            _log.info("kernel.limits.restored")


class Limits:
    """The limits of this process. `secret` must be the same in all that share a Redis."""

    def __init__(self, redis_url: str, *, secret: bytes = b"thenga") -> None:
        self._secret = secret
        self._pool = BlockingConnectionPool.from_url(
            redis_url,
            max_connections=_CONNECTIONS,
            timeout=_PATIENCE,
            socket_timeout=_PATIENCE,
            socket_connect_timeout=_PATIENCE,
            retry=Retry(NoBackoff(), 0),  # the client's own retries would outlast our patience
            protocol=2,
        )
        self._redis = RedisStorage(
            f"async+{redis_url}",
            implementation="redispy",
            key_prefix="limit",
            connection_pool=self._pool,  # type: ignore[arg-type]  # taken, but not in its types
        )
        self._client = Redis(connection_pool=self._pool)
        self._memory = tuple(MemoryStorage() for _ in range(_SHARDS))
        self._leases: dict[tuple[Rule, tuple[str, ...]], _Lease] = {}
        self._circuit = _Circuit()

    @property
    def degraded(self) -> bool:
        """Whether this process decides alone at the moment."""
        return self._circuit.open

    async def hit(self, rule: Rule, *parts: str) -> Standing:
        """Count one call of whom `parts` name, or raise `RateLimited`."""
        if rule.lease == 1:
            key = self._key(rule, parts)
            return await self._decide(rule, key, lambda: self._take_one(rule, key))
        lease = self._leases.get((rule, parts)) or self._new_lease(rule, parts)
        if lease.places and monotonic() < lease.ends:
            lease.places -= 1
            return lease.standing
        # Calls of one actor that come together wait for one lease instead of taking one each.
        async with lease.lock:
            if lease.places and monotonic() < lease.ends:
                lease.places -= 1
                return lease.standing
            if (wait := lease.free_at - monotonic()) > 0:
                raise refusal(rule, rule.amount, wait)  # Redis said so, and only time changes it
            return await self._decide(rule, lease.key, lambda: self._take_lease(rule, lease))

    async def hit_address(self, rule: Rule, address: str) -> None:
        """Count one call of an address; an IPv6 /64 is one, and so is its /48 (SEC-65)."""
        first, *wider = networks.counted(address)
        await self.hit(rule, first)
        for network in wider:
            await self.hit(_for_site(rule), network)

    async def remember(self, name: str, seconds: int) -> bool | None:
        """Whether no process had remembered this name; None while Redis is away."""
        if not self._circuit.lets_through():
            return None
        try:
            new = await self._client.set(f"once:{name}", 1, ex=seconds, nx=True)
        except _AWAY as error:
            self._circuit.failed(error)
            return None
        self._circuit.worked()
        return bool(new)

    async def close(self) -> None:
        await self._pool.disconnect()

    def _key(self, rule: Rule, parts: tuple[str, ...]) -> str:
        """No address or account stands in Redis in clear; lengths keep `a, bc` from `ab, c`."""
        text = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
        return f"{rule.name}:{rule.seconds}:{hmac.digest(self._secret, text, 'sha256').hex()[:40]}"

    def _new_lease(self, rule: Rule, parts: tuple[str, ...]) -> _Lease:
        if len(self._leases) >= _MOST_LEASES:
            self._leases.clear()  # loses places, never gains any
        lease = self._leases[rule, parts] = _Lease(rule, self._key(rule, parts))
        return lease

    async def _decide(self, rule: Rule, key: str, ask: Callable[[], Awaitable[float]]) -> Standing:
        """`ask` answers 0 for a yes, else the seconds to wait."""
        if not self._circuit.lets_through():
            return await self._alone(rule, key)
        try:
            wait = await ask()
        except _AWAY as error:
            self._circuit.failed(error)
            return await self._alone(rule, key)
        self._circuit.worked()
        if wait:
            raise refusal(rule, rule.amount, wait)
        return Standing(rule, False)

    async def _take_one(self, rule: Rule, key: str) -> float:
        if await self._take(rule, key, 1):
            return 0.0
        return seconds_to_wait(rule, rule.amount, await self._window(rule, key))

    async def _take_lease(self, rule: Rule, lease: _Lease) -> float:
        now = monotonic()
        if now >= lease.ends:
            # Asked before the places are taken and reckoned from before the question, so that an
            # error of time can only end the lease too early.
            window = await self._window(rule, lease.key)
            left = window.current_left - rule.seconds if window.current_left else rule.seconds
            lease.ends = now + left - _MARGIN
            lease.size = rule.lease
        lease.places = 0
        size = lease.size if now < lease.ends else 1
        if size > 1 and await self._take(rule, lease.key, size):
            lease.places = size - 1
            return 0.0
        lease.size = 1  # the last places of a window are taken one by one
        wait = await self._take_one(rule, lease.key)
        lease.free_at = monotonic() + wait if wait else 0.0
        return wait

    async def _take(self, rule: Rule, key: str, cost: int) -> bool:
        """The library's sliding window counter: one script, run by Redis as a whole."""
        return await self._redis.acquire_sliding_window_entry(key, rule.amount, rule.seconds, cost)

    async def _window(self, rule: Rule, key: str) -> Window:
        return Window(*await self._redis.get_sliding_window(key, rule.seconds))

    async def _alone(self, rule: Rule, key: str) -> Standing:
        memory = self._memory[int(key[-2:], 16) % _SHARDS]
        if len(memory.storage) >= _SHARD_KEYS:
            key = f"{rule.name}:overflow"
        if await memory.acquire_sliding_window_entry(key, rule.degraded, rule.seconds):
            return Standing(rule, True)
        window = Window(*await memory.get_sliding_window(key, rule.seconds))
        raise refusal(rule, rule.degraded, seconds_to_wait(rule, rule.degraded, window))


@lru_cache
def _for_site(rule: Rule) -> Rule:
    """The amount of a /48, which holds many customers of one provider or one large company."""
    amount, degraded = rule.amount * _SITE, rule.degraded * _SITE
    return Rule(f"{rule.name}-site", amount, rule.seconds, rule.lease, degraded)


def seconds_to_wait(rule: Rule, amount: int, window: Window) -> float:
    """Until the sliding window has one place again; the older count fades evenly."""
    weighed = floor(window.previous * window.previous_left / rule.seconds)
    most = amount - 1 - window.current  # what the older count may still weigh
    if most >= 0:
        if weighed <= most or not window.previous:
            return 0.001  # a place came free between the refusal and this look
        return max(0.001, window.previous_left - (most + 1) * rule.seconds / window.previous)
    # The present count is full by itself: it must first become the older one, then fade by one.
    over = window.current - amount + 1
    return max(0.0, window.current_left - rule.seconds) + over * rule.seconds / window.current


def refusal(rule: Rule, amount: int, wait: float) -> RateLimited:
    """Headers as in draft-ietf-httpapi-ratelimit-headers."""
    seconds = max(1, ceil(wait))
    return RateLimited(
        f"At most {amount} calls in {rule.seconds} seconds. Try again in {seconds} seconds.",
        headers={
            "Retry-After": str(seconds),
            "RateLimit": f'"{rule.name}";r=0;t={seconds}',
            "RateLimit-Policy": f'"{rule.name}";q={amount};w={rule.seconds}',
        },
        policy=rule.name,
        limit=amount,
        windowSeconds=rule.seconds,
        retryAfterSeconds=seconds,
    )
