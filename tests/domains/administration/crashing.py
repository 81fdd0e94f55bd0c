"""Crashes: the process dies at the n-th statement of a unit of work of Administration."""

from typing import Any

import pytest

from thenga.kernel.db.work import Work

_STATEMENTS = ("execute", "fetch", "fetchrow", "fetchval", "executemany")


class Crash(RuntimeError):
    """The process died here."""


class _Watched:
    """A connection whose statements are counted."""

    def __init__(self, real: Any, faults: "Faults") -> None:
        self.real, self._faults = real, faults

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        if name not in _STATEMENTS:
            return found

        async def counted(*arguments: Any, **more: Any) -> Any:
            self._faults.pass_by(self.real)
            return await found(*arguments, **more)

        return counted


class Faults:
    """Breaks the connection at one statement; `left` is None while nothing is to break."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left: int | None = None
        self.kills = 0
        opening, ending = Work._open, Work._end

        async def opened(work: Work) -> Any:
            connection = await opening(work)
            if work.domain == "administration" and not isinstance(connection, _Watched):
                work._connection = connection = _Watched(connection, self)  # type: ignore[assignment]
            return connection

        async def ended(work: Work, word: str) -> None:
            watched = work._connection
            if isinstance(watched, _Watched):
                work._connection = watched.real
                if word == "COMMIT":
                    self.pass_by(watched.real)
            await ending(work, word)
            if isinstance(watched, _Watched) and word == "COMMIT":
                self.pass_by(None)  # committed, and the answer is lost

        monkeypatch.setattr(Work, "_open", opened)
        monkeypatch.setattr(Work, "_end", ended)

    def pass_by(self, connection: Any) -> None:
        if self.left is None:
            return
        self.left -= 1
        if self.left < 0:
            self.left = None
            self.kills += 1
            if connection is not None:
                connection.terminate()
            raise Crash
