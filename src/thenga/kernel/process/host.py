"""What a process is made of: settings, pools, bound ports and the clock, made once at start."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from thenga.kernel.crypto import sealing
from thenga.kernel.process import secret_settings
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.clock import Clock, SystemClock

if TYPE_CHECKING:
    from thenga.kernel.db.engine import Engines
    from thenga.kernel.files.scanner import Scanner
    from thenga.kernel.files.store import FileStore
    from thenga.kernel.ports.binding import Bindings


@dataclass
class Host:
    """Passed down from `main` and `worker`; nothing in the kernel keeps global state."""

    settings: Settings
    engines: "Engines"
    bindings: "Bindings"
    files: "FileStore"
    scanner: "Scanner"
    clock: Clock = field(default_factory=SystemClock)
    # What each domain of this process may tell: the events of its manifest, and no others.
    told: dict[str, frozenset[str]] = field(default_factory=dict)

    def now(self) -> datetime:
        return self.clock.now()

    def key(self, purpose: str) -> bytes:
        """A key for the keyed hashes of one purpose, derived from the lookup key.

        Rows are found by such hashes, so it stays the same when the sealing key is rotated.
        """
        known = self._keys.get(purpose)
        if known is None:
            master = secret_settings.lookup_key(self.settings)
            known = self._keys[purpose] = sealing.derive(master, f"thenga/{purpose}/v1".encode())
        return known

    def ring(self, purpose: str) -> sealing.Ring:
        """The sealing keys of one purpose; domains use it through `kernel/db/sealed.py`."""
        known = self._rings.get(purpose)
        if known is None:
            masters = secret_settings.sealing_keys(self.settings)
            known = sealing.Ring(masters, f"thenga/{purpose}/v1".encode())
            self._rings[purpose] = known
        return known

    async def close(self) -> None:
        """Close what this process opened."""
        for close in self.closing:
            await close()
        await self.engines.close()

    closing: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    gathered: dict[str, Any] = field(default_factory=dict)  # what waits to be written, by its name
    _keys: dict[str, bytes] = field(default_factory=dict)
    _rings: dict[str, sealing.Ring] = field(default_factory=dict)
