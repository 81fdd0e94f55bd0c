"""Isolated child processes, for whatever parses foreign bytes.

Each call has a fresh child, two at a time, and the child is ended with its answer: what a document
has done to the memory of its reader is gone with it. Bytes and JSON go in and come out. The child
has limits on memory, time, files and processes, an environment without our settings, and no
network (`isolated_child.py`).
"""

import asyncio
import os
import signal
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import orjson

CHILDREN = 2
_CHILD = Path(__file__).with_name("isolated_child.py")
_SIZES = struct.Struct(">QQ")  # of the JSON, and of the bytes after it
_MOST_BYTES = 64 * 1024 * 1024
_END_SECONDS = 10.0
_OUT_OF_TIME = (signal.SIGXCPU, signal.SIGALRM)

_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class Reason(StrEnum):
    """Why an isolated function has no result."""

    TIME = "time"  # took longer than allowed
    MEMORY = "memory"  # needed more than allowed
    FORBIDDEN = "forbidden"  # opened a socket, wrote a file or started a process
    FAILED = "failed"  # raised an exception
    TOO_LARGE = "too_large"  # answered more than we read
    CRASHED = "crashed"  # ended without an answer


class IsolationFailed(Exception):
    """An isolated function has no result. The text holds nothing that the document chose."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Isolated:
    """What the function returned."""

    content: bytes
    values: dict[str, Any]


async def run_isolated(
    function: str,
    content: bytes,
    options: Mapping[str, Any],
    *,
    seconds: float,
    megabytes: int = 256,
) -> Isolated:
    """Call `module:function` with content and options in a child; it returns bytes and a dict.

    `seconds` are those of the clock, from the start of the child to its answer.
    """
    order = {
        "function": function,
        "options": options,
        "seconds": seconds,
        "megabytes": megabytes,
        "path": _import_path(),
    }
    async with _slot():
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-B", str(_CHILD)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(seconds):
                return await _exchange(child, _framed(orjson.dumps(order), content))
        except TimeoutError:
            raise IsolationFailed(Reason.TIME) from None
        except asyncio.IncompleteReadError:
            pass  # it ended without an answer; the signal is known at its end
        finally:
            await _end(child)
    by_time = -(child.returncode or 0) in _OUT_OF_TIME
    raise IsolationFailed(Reason.TIME if by_time else Reason.CRASHED)


async def _exchange(child: Process, order: bytes) -> Isolated:
    assert child.stdin is not None  # noqa: S101  # narrows the type for mypy
    assert child.stdout is not None  # noqa: S101
    with suppress(OSError):  # a child that ends before it has read everything
        child.stdin.write(order)
        await child.stdin.drain()
        child.stdin.close()
    of_head, of_content = _SIZES.unpack(await child.stdout.readexactly(_SIZES.size))
    if of_head + of_content > _MOST_BYTES:
        raise IsolationFailed(Reason.TOO_LARGE)
    head = await child.stdout.readexactly(of_head)
    content = await child.stdout.readexactly(of_content)
    try:
        answer = orjson.loads(head)
        if answer["failure"] is not None:
            raise IsolationFailed(Reason(answer["failure"]), str(answer["detail"])[:80])
        return Isolated(content, dict(answer["values"]))
    except (ValueError, TypeError, LookupError):
        raise IsolationFailed(Reason.CRASHED, "not an answer") from None


def _import_path() -> list[str]:
    """Where the child finds modules: as we do, though it stands in another folder."""
    return [str(Path(entry).resolve()) for entry in sys.path]


def _framed(head: bytes, content: bytes) -> bytes:
    return _SIZES.pack(len(head), len(content)) + head + content


async def _end(child: Process) -> None:
    """A child waits after its answer, so that it and what it started end together, here."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    assert child.stdout is not None  # noqa: S101  # narrows the type for mypy
    # asyncio tells the end of a process only when all that it wrote has been read.
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            while await child.stdout.read(65536):
                pass
            await child.wait()


def _slot() -> asyncio.Semaphore:
    return _slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(CHILDREN))
