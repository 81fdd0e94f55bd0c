"""The tour of README.md is run as it stands there, with bash and curl, against real processes."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.suites.processes import ApiProcess, Child, WorkerProcess
from thenga.kernel.dev.processes import free_ports
from thenga.kernel.settings import Settings

README = Path(__file__).resolve().parents[2] / "README.md"
_BLOCK = re.compile(r"^```bash tour\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^(\d{3}) (?:GET|POST) \S+$", re.MULTILINE)
_SMTP = "-u -m aiosmtpd -n -l 127.0.0.1:1025"
_SECONDS = 90

# Beside the waiting for ownership, which answers 404 for as long as it takes.
WANTED = ["202", "200", "201", "200", "201", "201", "200", "200", "409", "200", "401"]
SAID = ("invalid-transition: from in_use, allowed ", "session-revoked")


@dataclass(frozen=True)
class Stage:
    """Where the tour finds the API and the letters."""

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


@pytest.fixture(scope="module")
def stage(
    settings: Settings, seeded: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """`thenga api`, `thenga worker` and the mail server of the README, each a process."""
    folder = tmp_path_factory.mktemp("tour")
    (port,) = free_ports(1)
    env = {name: value for name, value in os.environ.items() if name.startswith("THENGA_")}
    env |= {"THENGA_SMTP_PORT": str(port)}
    command = [sys.executable, *_SMTP.replace("1025", str(port)).split()]
    letters = Child("letters", command, {}, folder)
    letters.begin()
    try:
        letters.await_ready(lambda: _answers(port), 20)
        with ApiProcess(env, folder) as api, WorkerProcess(env, folder):
            yield Stage(api.url, letters.log)
    finally:
        letters.kill()


def _answers(port: int) -> bool:
    with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
        return True
    return False


def script() -> str:
    return "\n".join(_BLOCK.findall(README.read_text()))


def statuses(output: str) -> list[str]:
    """The statuses that the tour showed, without those of the waiting."""
    return [status for status in _STEP.findall(output) if status != "404"]


def test_the_readme_starts_the_mail_server_that_the_tour_reads() -> None:
    assert shutil.which("bash") and shutil.which("curl")
    assert f".venv/bin/python {_SMTP} > .dev/letters" in README.read_text()
    assert ".dev/letters" in script()


def test_the_tour_does_what_the_readme_says(stage: Stage) -> None:
    done = stage.run(script())

    assert done.returncode == 0, done.stdout + done.stderr
    assert statuses(done.stdout) == WANTED
    assert [text for text in SAID if text not in done.stdout] == []
    print(f"tour steps={len(statuses(done.stdout))} ok")


def test_a_tour_that_promises_another_answer_is_found_out(stage: Stage) -> None:
    wrong = script().replace("ask 409", "ask 200")

    done = stage.run(wrong)

    assert done.returncode != 0
    assert statuses(done.stdout) == WANTED[:-2]
