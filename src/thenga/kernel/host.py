"""What a process is made of: settings, pools, bound ports and the clock, made once at start."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from thenga.kernel import sealing
from thenga.kernel.clock import Clock, SystemClock
from thenga.kernel.db.engine import Engines
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.settings import Settings


@dataclass
class Host:
    """Passed down from `main` and `worker`; nothing in the kernel keeps global state."""

    settings: Settings
    engines: Engines
    bindings: Bindings
    clock: Clock = field(default_factory=SystemClock)
    # What each domain of this process may tell: the events of its manifest, and no others.
    told: dict[str, frozenset[str]] = field(default_factory=dict)

    def now(self) -> datetime:
        return self.clock.now()

    def key(self, purpose: str) -> bytes:
        """A key derived from the sealing key for one purpose (cursors, body hashes …)."""
        known = self._keys.get(purpose)
        if known is None:
            master = bytes.fromhex(self.settings.sealing_key.get_secret_value())
            known = self._keys[purpose] = sealing.derive(master, f"thenga/{purpose}/v1".encode())
        return known

    async def close(self) -> None:
        """Close what this process opened."""
        for close in self.closing:
            await close()
        await self.engines.close()

    closing: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    gathered: dict[str, Any] = field(default_factory=dict)  # see kernel/gathering.py
    _keys: dict[str, bytes] = field(default_factory=dict)


def make_host(settings: Settings, *, clock: Clock | None = None) -> Host:
    """The host of this process."""
    return Host(settings, Engines(settings), Bindings(), clock or SystemClock())
