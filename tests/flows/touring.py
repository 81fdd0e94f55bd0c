"""A tour is a page whose `bash tour` blocks are run as they stand, against real processes."""

import json
import os
import re
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.settling import set_aside, transaction_number
from tests.suites.processes import ApiProcess, Child, WorkerProcess, with_own_limits
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.clock import SystemClock
from thenga.tooling.dev.processes import free_ports

ROOT = Path(__file__).resolve().parents[2]
SMTP = "-u -m aiosmtpd -n -l 127.0.0.1:1025"
_BLOCK = re.compile(r"^```bash tour\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANY_BLOCK = re.compile(r"^```bash(?: tour)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^(\d{3}) (?:GET|POST|PUT|PATCH) \S+$", re.MULTILINE)
_SECONDS = 400
_MOST_RETRIES = 3
_NOT_YET = "\nDependencyUnavailable: "


@dataclass(frozen=True)
class Stage:
    """Where a tour finds the API and the letters."""

    api: str
    letters: Path
    worker_log: Path
    began: datetime  # what earlier tests left is older

    def run(self, script: str) -> "subprocess.CompletedProcess[str]":
        """As a reader would: pasted into a shell without any option of its own."""
        settings = {k: v for k, v in os.environ.items() if k.startswith(("THENGA_", "PYTHONPATH"))}
        own = {"API": self.api, "LETTERS": str(self.letters), "PATH": os.environ["PATH"]}
        return subprocess.run(
            ["bash", "--norc"],
            input=script,
            env=settings | own | {"THENGA": f"{sys.executable} -m thenga"},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """`thenga api`, `thenga worker` and the mail server of the README, each a process."""
    (port,), began = free_ports(1), SystemClock().now()
    env = {name: value for name, value in os.environ.items() if name.startswith("THENGA_")}
    env = with_own_limits(env | {"THENGA_SMTP_PORT": str(port)}, 9)
    command = [sys.executable, *SMTP.replace("1025", str(port)).split()]
    set_aside(Settings(), transaction_number(Settings()))
    letters = Child("letters", command, {}, folder)
    letters.begin()
    try:
        letters.await_ready(lambda: _answers(port), 120)
        with (
            ApiProcess(env, folder, program="tests.patient") as api,
            WorkerProcess(env, folder, program="tests.patient") as worker,
        ):
            yield Stage(api.url, letters.log, worker.log, began)
    finally:
        letters.kill()


def _answers(port: int) -> bool:
    with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
        return True
    return False


def failures(log: str) -> list[dict[str, Any]]:
    """What a worker failed at: jobs that ended so or were tried four times, reports refused.

    A busy machine may cost a job a try or two. A job that asks a domain which a sandbox's clock
    has not reached yet is repeated as often as that takes, so these tries do not count.
    """
    found, retried = [], Counter[object]()
    for line in log.splitlines():
        with suppress(ValueError):
            entry = json.loads(line)
            event, job = entry.get("event", ""), (entry.get("task"), entry.get("job"))
            counts = event == "jobs.job.retried" and _NOT_YET not in entry.get("error", "")
            retried[job] += counts
            too_often = counts and retried[job] == _MOST_RETRIES
            if event == "jobs.job.failed" or event.endswith(".rejected") or too_often:
                found.append(entry)
    return found


def script(*pages: str) -> str:
    """The blocks of the pages, in order."""
    return "\n".join(block for page in pages for block in _BLOCK.findall((ROOT / page).read_text()))


def blocks(page: str) -> list[str]:
    """All blocks of a page for a shell, also those that are for a real installation."""
    return _ANY_BLOCK.findall((ROOT / page).read_text())


def statuses(output: str) -> list[str]:
    """The statuses that a tour showed, without the 404 of waiting for something to come true."""
    return [status for status in _STEP.findall(output) if status != "404"]
