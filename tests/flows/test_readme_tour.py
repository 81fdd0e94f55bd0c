"""The tour of README.md is run as it stands there, with bash and curl, against real processes."""

import shutil
from collections.abc import Iterator

import pytest

from tests.flows.touring import ROOT, SMTP, Stage, script, staged, statuses
from thenga.kernel.settings import Settings

# Beside the waiting for ownership, which answers 404 for as long as it takes.
WANTED = ["202", "200", "201", "200", "201", "201", "200", "200", "409", "200", "401"]
SAID = ("invalid-transition: from in_use, allowed ", "session-revoked")


@pytest.fixture(scope="module")
def stage(
    settings: Settings, seeded: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("readme")) as made:
        yield made


def test_the_readme_starts_the_mail_server_that_the_tour_reads() -> None:
    assert shutil.which("bash") and shutil.which("curl")
    assert f".venv/bin/python {SMTP} > .dev/letters" in (ROOT / "README.md").read_text()
    assert ".dev/letters" in script("README.md")


def test_the_tour_does_what_the_readme_says(stage: Stage) -> None:
    done = stage.run(script("README.md"))

    assert done.returncode == 0, done.stdout + done.stderr
    assert statuses(done.stdout) == WANTED
    assert [text for text in SAID if text not in done.stdout] == []
    print(f"tour steps={len(statuses(done.stdout))} ok")


def test_a_tour_that_promises_another_answer_is_found_out(stage: Stage) -> None:
    wrong = script("README.md").replace("ask 409", "ask 200")

    done = stage.run(wrong)

    assert done.returncode != 0
    assert statuses(done.stdout) == WANTED[:-2]
