"""Starts our processes without loading the domains anew each time.

Loading takes seconds of CPU, which most suites are not about. One process a test run has loaded
everything and forks for each process that is asked for; from there on it is the same program, with
its own session, environment and log, to be stopped or killed as any other.
"""

import atexit
import gc
import json
import os
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

_ROOT = Path(__file__).parents[2]
_CPU = "cpu"


@dataclass(frozen=True)
class Program:
    """`python -m module arguments`, and where it runs."""

    module: str
    arguments: Sequence[str]
    env: Mapping[str, str]
    folder: str
    log: str

    def run(self) -> NoReturn:
        """Become this program; the caller is the fork."""
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.env)
        null, log = os.open(os.devnull, os.O_RDONLY), os.open(self.log, os.O_WRONLY | os.O_APPEND)
        for target, source in ((0, null), (1, log), (2, log)):
            os.dup2(source, target)
        sys.argv = [self.module, *self.arguments]
        code = 1
        try:
            runpy.run_module(self.module, run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:  # noqa: BLE001  # as the interpreter does for an error that nobody caught
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


class Forked:
    """A process that somebody else is the parent of; the part of `Popen` that `Child` uses."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float) -> None:
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout)

    def _has_ended(self, seconds: float) -> bool:
        asking = select.poll()
        asking.register(self._handle, select.POLLIN)
        return bool(asking.poll(seconds * 1000))

    def __del__(self) -> None:
        os.close(self._handle)


class _Loaded:
    """The process that has loaded everything, seen from the tests."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        env = {key: value for key, value in os.environ.items() if not key.startswith("THENGA_")}
        env |= {"PYTHONPATH": os.pathsep.join((str(_ROOT / "src"), str(_ROOT)))}
        self._process = subprocess.Popen(
            command, cwd=_ROOT, env=env, pass_fds=[theirs.fileno()], start_new_session=True
        )
        theirs.close()
        self._channel = ours

    def ask(self, message: object) -> Any:
        self._channel.send(json.dumps(message).encode())
        return json.loads(self._channel.recv(1 << 16))

    def end(self) -> None:
        self._channel.close()
        self._process.wait()


_loaded: _Loaded | None = None
_asking = threading.Lock()  # an answer belongs to the message before it


def start(program: Program) -> Forked:
    """The program as a process of its own."""
    global _loaded  # one a test run, made when the first asks
    with _asking:
        if _loaded is None:
            _loaded = _Loaded()
            atexit.register(_end)
        return Forked(_loaded.ask(asdict(program)))


def cpu_seconds() -> float:
    """What loading took, and what the processes used that have ended."""
    with _asking:
        return 0.0 if _loaded is None else float(_loaded.ask(_CPU))


def _end() -> None:
    global _loaded
    if _loaded is not None:
        _loaded.end()
        _loaded = None


def _serve(channel: socket.socket) -> None:
    while message := channel.recv(1 << 18):
        _reap()
        asked = json.loads(message)
        if asked == _CPU:
            channel.send(json.dumps(own_cpu_seconds()).encode())
            continue
        pid = os.fork()
        if pid == 0:
            channel.close()
            Program(**asked).run()
        channel.send(json.dumps(pid).encode())


def _reap() -> None:
    """Nobody asks for the status of a process that has ended; its CPU time is counted here."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def own_cpu_seconds() -> float:
    """User and system time of this process and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def load() -> None:
    """Everything that our processes import, and every route."""
    import uvicorn  # noqa: F401

    from thenga import command, main, topology, worker  # noqa: F401
    from thenga.kernel.http.document.operations import operations

    operations(topology.load(topology.DOMAINS))  # makes the routes
    gc.collect()
    gc.freeze()  # so that a fork shares what was loaded


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a person who ends the tests ends us by them
    load()
    _serve(socket.socket(fileno=int(sys.argv[1])))
