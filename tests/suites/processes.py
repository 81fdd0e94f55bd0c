"""`thenga api` and `thenga worker` as processes of their own, to be killed and started again."""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.suites import preloaded
from tests.suites.preloaded import Forked, Program
from thenga.tooling.dev.processes import free_ports, wait

_READY_SECONDS = 180.0
_STOP_SECONDS = 30.0
# What an api process must not be given, because it reads the rows of every organization.
_SYSTEM_ONLY = (
    "THENGA_SYSTEM_DATABASE",
    "THENGA_SYSTEM_DATABASE_SECRET",
    "THENGA_ADMIN_DATABASE",
)
_TESTS = {"PYTHONPATH": str(Path(__file__).parents[2])}  # where a process finds tests/


class Child:
    """A process with its own session, so that it ends with all of its children.

    The calls block: from a coroutine use `asyncio.to_thread(child.start)`. With `fresh` it is an
    interpreter of its own from the start, and no fork of one that has loaded everything
    (preloaded.py).
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        folder: Path,
        *,
        fresh: bool = True,
    ) -> None:
        self.log = folder / f"{name}.log"
        self._command = list(command)
        self._folder = folder
        own = {key: value for key, value in os.environ.items() if not key.startswith("THENGA_")}
        self._env = own | dict(env)
        self._fresh = fresh
        self._process: subprocess.Popen[bytes] | Forked | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self.is_running() and self._process else None

    @property
    def cpu_seconds(self) -> float:
        """User and system time that it has used since its start."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def begin(self) -> None:
        """Start it, and do not wait for anything."""
        assert not self.is_running(), f"{self.log.stem} runs already"
        self.log.touch()
        if not self._fresh:
            _, _, module, *arguments = self._command  # python -m
            asked = Program(module, arguments, self._env, str(self._folder), str(self.log))
            self._process = preloaded.start(asked)
            return
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,  # away from the `.dev/env` of this work tree
                env=self._env,
                start_new_session=True,
            )

    def await_ready(self, ready: Callable[[], bool], seconds: float) -> None:
        # Asked once more, a process that has just answered may answer too late.
        answered = wait(lambda: not self.is_running() or ready(), seconds)
        if not (answered and self.is_running()):
            told = self.log.read_text(errors="replace")[-3000:]
            self.kill()
            raise RuntimeError(f"{self.log.stem} does not get ready:\n{told}")

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        os.killpg(process.pid, number)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(_STOP_SECONDS)
            raise

    def __exit__(self, *_: object) -> None:
        self.kill()


def with_own_limits(env: dict[str, str], number: int) -> dict[str, str]:
    """Calls are counted in a Redis database of its own: other tests call from the same address,
    maybe a moment ago or by a clock that runs ahead."""
    return env | {"THENGA_REDIS": f"{env['THENGA_REDIS'].rpartition('/')[0]}/{number}"}


class ApiProcess(Child):
    """`thenga api` on a free port that stays the same over restarts.

    `env` is what `servers.up` gave, with changes; `app` names another factory than our own, as
    `module:function`, for a process with a bug in it; `program` is `tests.patient` where a busy
    machine must not be taken for a port that is silent.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        folder: Path,
        *,
        name: str = "api",
        app: str | None = None,
        port: int | None = None,
        internal_port: int | None = None,
        program: str = "thenga",
        fresh: bool = False,
    ) -> None:
        own, internal = free_ports(2)
        self.port, self.internal_port = port or own, internal_port or internal
        self.origin = f"http://127.0.0.1:{self.port}"
        self.internal = f"http://127.0.0.1:{self.internal_port}"
        self.url = f"{self.origin}/v1"
        given = {key: value for key, value in env.items() if key not in _SYSTEM_ONLY}
        given["THENGA_INTERNAL_LISTEN"] = f"127.0.0.1:{self.internal_port}"
        super().__init__(
            name, _serving(app, self.port, program), given | _TESTS, folder, fresh=fresh
        )

    def start(self, seconds: float = _READY_SECONDS) -> None:
        """Start it, and wait until it may take traffic."""
        self.begin()
        self.await_ready(self.is_ready, seconds)

    def is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def __enter__(self) -> Self:
        self.start()
        return self


class WorkerProcess(Child):
    """`thenga worker`."""

    def __init__(
        self,
        env: Mapping[str, str],
        folder: Path,
        *,
        name: str = "worker",
        program: str = "thenga",
        fresh: bool = False,
    ) -> None:
        command = [sys.executable, "-m", program, "worker"]
        super().__init__(name, command, dict(env) | _TESTS, folder, fresh=fresh)

    def start(self, seconds: float = _READY_SECONDS) -> None:
        """Start it, and wait until it says that it has."""
        before = self.log.stat().st_size if self.log.exists() else 0
        self.begin()
        self.await_ready(lambda: b"worker.process.started" in self._told(before), seconds)

    def _told(self, after: int) -> bytes:
        with self.log.open("rb") as log:
            log.seek(after)
            return log.read()

    def __enter__(self) -> Self:
        self.start()
        return self


def _serving(app: str | None, port: int, program: str) -> list[str]:
    if app is None:
        return [sys.executable, "-m", program, "api", "--port", str(port)]
    serving = [sys.executable, "-m", "uvicorn", "--factory", app, "--port", str(port)]
    return [*serving, "--no-access-log"]
