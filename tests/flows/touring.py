"""A tour is a page whose `bash tour` blocks are run as they stand, against real processes."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.settling import set_aside, transaction_number
from tests.suites.processes import ApiProcess, Child, WorkerProcess, with_own_limits
from thenga.kernel.settings import Settings
from thenga.tooling.dev.processes import free_ports

ROOT = Path(__file__).resolve().parents[2]
SMTP = "-u -m aiosmtpd -n -l 127.0.0.1:1025"
_BLOCK = re.compile(r"^```bash tour\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^(\d{3}) (?:GET|POST|PUT|PATCH) \S+$", re.MULTILINE)
_SECONDS = 400


@dataclass(frozen=True)
class Stage:
    """Where a tour finds the API and the letters."""

    api: str
    letters: Path

    def run(self, script: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={"PATH": os.environ["PATH"], "API": self.api, "LETTERS": str(self.letters)},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """`thenga api`, `thenga worker` and the mail server of the README, each a process."""
    (port,) = free_ports(1)
    env = {name: value for name, value in os.environ.items() if name.startswith("THENGA_")}
    env = with_own_limits(env | {"THENGA_SMTP_PORT": str(port)}, 9)
    command = [sys.executable, *SMTP.replace("1025", str(port)).split()]
    set_aside(Settings(), transaction_number(Settings()))
    letters = Child("letters", command, {}, folder)
    letters.begin()
    try:
        letters.await_ready(lambda: _answers(port), 20)
        with (
            ApiProcess(env, folder, program="tests.patient") as api,
            WorkerProcess(env, folder, program="tests.patient"),
        ):
            yield Stage(api.url, letters.log)
    finally:
        letters.kill()


def _answers(port: int) -> bool:
    with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
        return True
    return False


def script(*pages: str) -> str:
    """The blocks of the pages, in order."""
    return "\n".join(block for page in pages for block in _BLOCK.findall((ROOT / page).read_text()))


def statuses(output: str) -> list[str]:
    """The statuses that a tour showed, without the 404 of waiting for something to come true."""
    return [status for status in _STEP.findall(output) if status != "404"]
