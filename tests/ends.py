"""Two runs over the same files, one from the front and one from the back, until they meet.

Fixed halves end at different times on every machine. Here each run claims a file before its first
test, by making a file of that name, which only one of them can. `tests/gate.py` starts both with
`THENGA_CLAIMS`, the folder of the claims, and one of them with `THENGA_END=back`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


class Ends:
    """Runs the files that this run has claimed, and leaves the others to the other run."""

    def __init__(self, claims: Path, *, from_back: bool) -> None:
        self._claims = claims
        self._from_back = from_back

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """As pytest's own loop; the next test is known before one ends, for the fixtures' sake."""
        if session.testsfailed or session.config.option.collectonly:
            return None  # files that could not be collected are told by pytest itself
        mine = self._claimed(session.items)
        item = next(mine, None)
        while item is not None:
            following = next(mine, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
            item = following
        return True

    def _claimed(self, items: list[pytest.Item]) -> Iterator[pytest.Item]:
        files: dict[str, list[pytest.Item]] = {}
        for item in items:
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        for file in reversed(files) if self._from_back else files:
            if self._claim(file):
                yield from files[file]

    def _claim(self, file: str) -> bool:
        try:
            (self._claims / file.replace("/", "--")).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def register(config: pytest.Config) -> None:
    """Take part in two runs, if this is one of them."""
    claims = os.environ.get("THENGA_CLAIMS")
    if claims:
        from_back = os.environ.get("THENGA_END") == "back"
        config.pluginmanager.register(Ends(Path(claims), from_back=from_back), "ends")
