"""The bound that all pools of a process share (docs/decisions/0032)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

_LEAST_FOR_POOLS = 8
_KEPT_SHARE = 4  # at most a quarter of the places is kept for pools that have nothing lent


class TooFewConnections(RuntimeError):
    """`THENGA_CONNECTIONS` is too low for what this process runs; the text says what it needs."""


@dataclass(frozen=True, slots=True)
class Place:
    """Leave to open a connection, once the one that gives way to it is closed."""

    vacating: asyncio.Task[None] | None = None


class SharingPool(Protocol):
    """A pool, as far as the bound that it shares is concerned."""

    lent: int

    @property
    def idle_since(self) -> float | None: ...

    @property
    def waiting_since(self) -> float | None: ...

    def vacate(self) -> asyncio.Task[None]:
        """Close the connection that has been idle longest."""
        ...

    def serve(self) -> bool:
        """Give what is free to the first in line."""
        ...


class Bound:
    """How many connections the pools may have open together.

    When all are open, the longest idle one of another pool is closed. The last places are kept for
    pools that have nothing lent: a unit of work that holds a connection of one domain and asks
    another domain must not wait for units of work that wait for the same.
    """

    def __init__(self, most: int) -> None:
        self.waiting = 0  # callers in the lines of all pools
        self._most = most
        self._reserved = 0
        self._open = 0  # also those that are being opened or closed
        self._lent = 0
        self._resting = 0  # pools that have nothing lent
        self._pools: dict[SharingPool, None] = {}

    @contextmanager
    def reserved(self, count: int) -> Iterator[None]:
        """Keep places for connections outside the pools while the block runs."""
        least = self._reserved + count + _LEAST_FOR_POOLS
        if least > self._most:
            raise TooFewConnections(f"THENGA_CONNECTIONS is {self._most}; set at least {least}")
        self._reserved += count
        while self.is_exceeded and (pool := self._longest_idle()) is not None:
            pool.vacate()
            self._open -= 1
        try:
            yield
        finally:
            self._reserved -= count
            for _ in range(count):
                self.serve()

    @property
    def is_exceeded(self) -> bool:
        return self._open > self._most - self._reserved

    def join(self, pool: SharingPool) -> None:
        self._pools[pool] = None
        self._resting += 1

    def leave(self, pool: SharingPool) -> None:
        if pool in self._pools:
            del self._pools[pool]
            self._resting -= not pool.lent

    def may_lend(self, pool: SharingPool) -> bool:
        room = self._most - self._reserved
        kept = min(self._resting, room // _KEPT_SHARE) if pool.lent else 0
        return self._lent + kept < room

    def lend(self, pool: SharingPool) -> None:
        self._resting -= not pool.lent
        self._lent += 1
        pool.lent += 1

    def take_back(self, pool: SharingPool) -> None:
        self._lent -= 1
        pool.lent -= 1
        self._resting += not pool.lent and pool in self._pools

    def place(self) -> Place | None:
        """Leave to open one more connection, or nothing while all are in use."""
        if self._open < self._most - self._reserved:
            self._open += 1
            return Place()
        pool = self._longest_idle()
        return Place(pool.vacate()) if pool is not None else None

    def free(self) -> None:
        """A connection was closed, and nobody has its place yet."""
        self._open -= 1
        self.serve()

    def serve(self, first: SharingPool | None = None) -> None:
        """Give what came back to who waits: in the same pool, else to who has waited longest."""
        if not self.waiting or (first is not None and first.serve()):
            return
        waiting = [(since, pool) for pool in self._pools if (since := pool.waiting_since)]
        for _, pool in sorted(waiting, key=lambda each: each[0]):
            if pool.serve():
                return

    def _longest_idle(self) -> SharingPool | None:
        idle = [pool for pool in self._pools if pool.idle_since is not None]
        return min(idle, key=lambda pool: pool.idle_since or 0.0, default=None)
