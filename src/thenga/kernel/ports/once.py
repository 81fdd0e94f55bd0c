"""Which signed calls were used already: each is good for one use, in any process.

This process remembers by itself, and shares what it knows through Redis. While Redis is away a call
could be used again in another process; its signature then lives seconds instead of a minute.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from time import monotonic

WINDOW = 60  # seconds that a signature lives, either way
WINDOW_ALONE = 5  # the same, while Redis is away

# Whether nobody else has remembered this for so many seconds; None while nobody can be asked.
Remember = Callable[[str, int], Awaitable[bool | None]]


class Once:
    """Remembers nonces until the signature that carried them has expired."""

    def __init__(self, remember: Remember | None = None) -> None:
        self._remember = remember
        self._known: set[str] = set()
        self._oldest: deque[tuple[float, str]] = deque()

    async def take(self, nonce: str, *, age: float) -> bool:
        """Whether this call may be answered; `age` is how far its time is from ours."""
        now = monotonic()
        while self._oldest and self._oldest[0][0] < now:
            self._known.discard(self._oldest.popleft()[1])
        if nonce in self._known:
            return False
        self._known.add(nonce)
        self._oldest.append((now + 2 * WINDOW, nonce))
        if self._remember is None:
            return True
        new = await self._remember(f"port-nonce:{nonce}", 2 * WINDOW)
        return age <= WINDOW_ALONE if new is None else new
