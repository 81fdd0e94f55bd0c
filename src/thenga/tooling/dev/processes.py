"""Processes that outlive the command which started them, known by more than their number.

A pid alone may have passed to a stranger since it was written down; a pid, the boot and the
moment of birth together belong to one process for ever.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process as it is remembered between commands."""

    pid: int
    born: str


class NeverAnswered(RuntimeError):
    """A server was started and did not answer in time; its log says why."""


def spawn(command: list[str], *, log: Path, folder: Path, user: str | None = None) -> Process:
    """Start a process that belongs to nobody, so that no parent must reap it."""
    # The shell ends at once and leaves the server to init; `exec` keeps the pid that it prints.
    script = 'exec "$@" </dev/null >&2 & echo $!'
    with log.open("ab") as errors:
        started = subprocess.run(
            ["/bin/sh", "-c", script, "sh", *command],
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            check=True,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=[] if user else None,
        )
    pid = int(started.stdout)
    return Process(pid, born(pid) or "")


def born(pid: int) -> str | None:
    """Boot and start time of a living process, nothing for a dead one or a zombie."""
    try:
        # The name of the program stands in parentheses and may itself hold blanks.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if fields[0] in "ZX":
        return None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{fields[19]}"  # field 22 of proc(5), counted from the state, which is 3


def is_alive(process: Process) -> bool:
    return bool(process.born) and born(process.pid) == process.born


def send(process: Process, number: signal.Signals) -> None:
    """Signal exactly this process; nothing happens if it is gone."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        # The handle is opened before the look, so the pid cannot change hands between the two.
        if is_alive(process):
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)


def end(process: Process, number: signal.Signals, *, seconds: float) -> None:
    """Ask a process to end, and end it when it has not after so many seconds."""
    send(process, number)
    if not wait(lambda: not is_alive(process), seconds):
        send(process, signal.SIGKILL)
        wait(lambda: not is_alive(process), 5)


def inside(folder: Path, program: str) -> list[Process]:
    """The living processes of a program whose working directory is this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            here = (entry / "cwd").readlink() == folder
            ours = here and (entry / "exe").readlink().name.startswith(program)
        except OSError:
            continue
        birth = born(int(entry.name)) if ours else None
        if birth:
            found.append(Process(int(entry.name), birth))
    return found


def wait(until: Callable[[], bool], seconds: float) -> bool:
    """Look again and again until it is so; false when the time is over."""
    over = time.monotonic() + seconds
    while not until():
        if time.monotonic() > over:
            return False
        time.sleep(0.02)
    return True


def free_ports(count: int) -> list[int]:
    """Ports that nobody holds now; all are held at once, so that they differ.

    They lie below those that outgoing connections are given: one of these would keep a server
    from its own port for a minute after it was killed.
    """
    below = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    sockets: list[socket.socket] = []
    while len(sockets) < count:
        port = random.randrange(below // 2, below)  # noqa: S311  # only spreads
        with suppress(OSError):  # somebody has it
            sockets.append(socket.create_server(("127.0.0.1", port)))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def find_program(name: str, *folders: Path) -> str:
    """The path of a program: of the first folder that has it, else of the search path."""
    for folder in folders:
        if (folder / name).is_file():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is not installed")
    return found
