"""The child of `isolation.py`: gives up its rights, then calls one function on foreign bytes.

Started as a script, with the standard library alone, so that limits stand before anything else is
imported. An answer is JSON and bytes, each with its size before it.
"""

import ctypes
import errno
import importlib
import json
import math
import os
import resource
import signal
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

_SIZES = struct.Struct(">QQ")
_MEBIBYTE = 1024 * 1024
_MOST_FILES = 32
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # of <linux/sched.h>
# Calls of the system that a reader of documents has no use for, and the number of the machine's
# ABI: socket, socketpair, clone, fork, vfork, execve, kill, ptrace, process_vm_readv and _writev,
# execveat, io_uring_setup, clone3; aarch64 has neither fork nor vfork.
_CALLS = {
    "x86_64": (0xC000003E, (41, 53, 56, 57, 58, 59, 62, 101, 310, 311, 322, 425, 435)),
    "aarch64": (0xC00000B7, (198, 199, 220, 221, 129, 117, 270, 271, 281, 425, 435)),
}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # of <linux/bpf_common.h>
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM  # of <linux/seccomp.h>
_OTHER_ABI = 0x40000000  # x32 numbers its calls from here
_NO_NEW_RIGHTS, _SET_FILTER, _FILTER = 38, 22, 2  # of <linux/prctl.h>
_FORBIDDEN = (
    *("socket.", "subprocess.", "pty."),
    *("os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system"),
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Forbidden(PermissionError):
    """The function opened a socket, wrote a file or started a process."""


def main() -> None:
    answering = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no answer
    asking = sys.stdin.buffer
    of_head, of_content = _SIZES.unpack(asking.read(_SIZES.size))
    order = json.loads(asking.read(of_head))
    sys.path[:] = order["path"]
    leave_network()
    limit(order["seconds"], order["megabytes"])
    filter_calls()
    sys.addaudithook(_refuse)
    head, content = _answer(order, asking, of_content)
    answering.write(_SIZES.pack(len(head), len(content)) + head + content)
    answering.flush()
    signal.pause()  # until the parent ends us


def limit(seconds: float, megabytes: int) -> None:
    """Bounds that no code of this process can lift again."""
    whole = math.ceil(seconds) + 1
    for what, most in (
        (resource.RLIMIT_AS, megabytes * _MEBIBYTE),
        (resource.RLIMIT_CPU, whole),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(what, (most, most))
    signal.alarm(whole)  # should the parent be gone by then


def leave_network() -> None:
    """A network of our own, without any interface; where the system allows it."""
    unshare = ctypes.CDLL(None).unshare
    if unshare(_NEW_USER | _NEW_NETWORK) != 0:
        unshare(_NEW_NETWORK)


def filter_calls() -> None:
    """Have the system refuse sockets, new processes and the hold on others, also to native code."""
    if os.uname().machine not in _CALLS:
        return
    abi, calls = _CALLS[os.uname().machine]
    steps = [
        _step(_LOAD, 4),
        _step(_EQUAL, abi, 1, 0),
        _step(_RETURN, _REFUSE),
        _step(_LOAD, 0),
        _step(_AT_LEAST, _OTHER_ABI, len(calls) + 1, 0),
        *(_step(_EQUAL, call, len(calls) - at, 0) for at, call in enumerate(calls)),
        _step(_RETURN, _ALLOW),
        _step(_RETURN, _REFUSE),
    ]
    code = ctypes.create_string_buffer(b"".join(steps))
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None).prctl
    prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0)
    prctl(_SET_FILTER, _FILTER, program, 0, 0)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def walls(content: bytes, options: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Which network a child has, and whether the system gives it sockets; for `thenga doctor`."""
    given = ctypes.CDLL(None).socket(1, 1, 0) >= 0  # a Unix socket, past Python
    return b"", {"network": str(Path("/proc/self/ns/net").readlink()), "sockets": given}


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(_FORBIDDEN) or (event == "open" and arguments[2] & _WRITING):
        raise Forbidden(event)


def _answer(order: dict[str, Any], asking: BinaryIO, size: int) -> tuple[bytes, bytes]:
    # Whatever the exception holds is let go before the answer is written: it may be all memory.
    try:
        module, name = order["function"].split(":")
        function = getattr(importlib.import_module(module), name)
        content, values = function(asking.read(size), order["options"])
        return _head(values=values), bytes(content)
    except MemoryError:
        failure, detail = "memory", ""
    except Forbidden as refused:
        failure, detail = "forbidden", str(refused)
    except Exception as error:  # noqa: BLE001 (every failure is told by its name)
        failure, detail = "failed", type(error).__name__
    return _head(failure=failure, detail=detail), b""


def _head(
    *, values: dict[str, Any] | None = None, failure: str | None = None, detail: str = ""
) -> bytes:
    answer = {"values": values, "failure": failure, "detail": detail}
    return json.dumps(answer, allow_nan=False).encode()


if __name__ == "__main__":
    main()
