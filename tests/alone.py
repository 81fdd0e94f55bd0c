"""Runs every test file by itself and names those that fail so: `make alone`, or with some files.

Each file has a process and servers of its own, so all of them take long; no part of `make check`.
The processes are forks of this one, which has loaded the domains before: loading them takes longer
than most files. Two run side by side.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.suites import preloaded

_ROOT = Path(__file__).parents[1]
_AT_ONCE = 2


@dataclass
class Run:
    """A file on its way."""

    file: str
    told: Path
    began: float

    @classmethod
    def start(cls, file: str, told: Path) -> tuple[int, "Run"]:
        pid = os.fork()
        if pid == 0:
            os.setsid()  # so that what it starts and kills is its own
            written = os.open(told, os.O_WRONLY | os.O_CREAT)
            os.dup2(written, 1)
            os.dup2(written, 2)
            code = pytest.main([file, "-x", "-q", "--tb=short"])
            sys.stdout.flush()
            os._exit(int(code))
        return pid, cls(file, told, time.monotonic())


def main(asked: Sequence[str]) -> int:
    """The number of files that fail alone, at most 1."""
    files = asked or sorted(str(one.relative_to(_ROOT)) for one in _ROOT.glob("tests/**/test_*.py"))
    waiting, running, failed = list(enumerate(files)), dict[int, Run](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < _AT_ONCE:
                number, file = waiting.pop(0)
                pid, run = Run.start(file, Path(folder) / f"{number}.txt")
                running[pid] = run
            pid, status = os.wait()
            run = running.pop(pid)
            word = "FAILED" if status else "green"
            done = len(files) - len(waiting) - len(running)
            took = time.monotonic() - run.began
            print(f"{done} of {len(files)} {word} {run.file} {took:.0f} s", flush=True)
            if status:
                failed.append(run.file)
                print(run.told.read_text(errors="replace")[-3000:], flush=True)
    print(f"alone: files={len(files)} failed={len(failed)}", *failed, sep="\n  ")
    return int(bool(failed))


if __name__ == "__main__":
    import tests.conftest  # noqa: F401  # so that no fork imports it anew

    preloaded.load()
    sys.exit(main(sys.argv[1:]))
