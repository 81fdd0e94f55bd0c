"""`thenga health` asks a process of this machine whether it works."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from thenga.kernel.process import health


@pytest.fixture
def beat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "thenga-worker-beat"


def test_a_worker_that_moves_works(beat: Path) -> None:
    health.beat()

    assert beat.exists()
    assert health.worker_fault() is None


def test_a_worker_that_stands_still_does_not(beat: Path) -> None:
    health.beat()
    minutes_ago = time.time() - 300
    os.utime(beat, (minutes_ago, minutes_ago))

    assert "not moved" in (health.worker_fault() or "")


def test_without_a_worker_there_is_none(beat: Path) -> None:
    assert health.worker_fault() == "no worker has started"


def test_an_api_that_does_not_listen_does_not_work() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert "no answer" in (health.api_fault(free.getsockname()[1]) or "")


def test_asking_imports_no_framework() -> None:
    """A container asks every ten seconds, for as long as it lives."""
    asked = (
        "import sys\nfrom thenga.command import main\n"
        "try: main(['health', 'worker'])\nexcept SystemExit: pass\n"
        "print([name for name in ('fastapi', 'sqlalchemy', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, timeout=120, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"
