"""A program at a terminal, and the person who answers its prompts."""

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_SECONDS = 900.0
_PROMPT = re.compile(r"[^\n]+: \Z")


def converse(
    command: Sequence[str],
    env: Mapping[str, str],
    folder: Path,
    answer: Callable[[str, str], str | None],
) -> tuple[int, str]:
    """Run a program to its end; its exit code, and all that stood on the terminal.

    `answer` gets the line that the program waits at and what stands above it, and gives what is
    typed; None where this line is no prompt.
    """
    person, program = pty.openpty()
    started = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *command],
        stdin=program,
        stdout=program,
        stderr=program,
        env=dict(env),
        cwd=folder,
    )
    os.close(program)
    text, over = "", time.monotonic() + _SECONDS
    try:
        while (read := _read(person)) is not None:
            text += read
            line = _PROMPT.search(text)
            typed = answer(line[0], text[: line.start()]) if line else None
            if typed is not None:
                os.write(person, f"{typed}\n".encode())
                text += "\n"  # so that it is answered once
            assert time.monotonic() < over, text[-2000:]
        return started.wait(60), text
    finally:
        started.kill()
        started.wait()
        os.close(person)


def _read(person: int) -> str | None:
    """What the program has written meanwhile; None when it has ended."""
    if not select.select([person], [], [], 1)[0]:
        return ""
    try:
        return os.read(person, 65_536).decode(errors="replace").replace("\r", "") or None
    except OSError:  # the other side was closed
        return None
