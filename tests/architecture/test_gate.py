"""The gate lets a failure by chance pass once, and nothing else."""

import os
import re
import subprocess
import sys
import tomllib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests import gate
from tests.records import Failure, Record
from tests.submission import submission

ROOT = Path(__file__).parents[2]
_CONFTEST = """
from pathlib import Path
from tests import ends, lanes, records, submission

submission.ROOT = Path(__file__).parent

def pytest_configure(config):
    config.addinivalue_line("markers", "prove:")
    config.addinivalue_line("markers", "no_retry:")
    records.register(config)
    ends.register(config)

def pytest_collection_modifyitems(config, items):
    lanes.select(config, items)
"""
_GATE = """
import sys
from pathlib import Path
from tests import gate

gate.ROOT, gate.FLAKY = Path.cwd(), Path("flaky.toml")
sys.exit(gate.main(sys.argv[1:]))
"""
# Passes at every try but those whose numbers it is given.
_FLAKY = """
import pytest
from pathlib import Path

def failing(*tries):
    file = Path(__file__).with_suffix(".tries")
    number = len(file.read_text()) if file.exists() else 0
    file.write_text("x" * (number + 1))
    assert number not in tries, "the planted flake"

def test_before():
    pass

"""
FLAKE = f"{_FLAKY}def test_flake():\n    failing(0)\n"


def run(folder: Path, *files: str, **env: str) -> tuple[int, str]:
    """The gate over some files of tests; its exit code and what it printed."""
    (folder / "conftest.py").write_text(_CONFTEST)
    (folder / "flaky.toml").touch()
    for number, text in enumerate(files):
        (folder / f"test_{number}.py").write_text(text)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("THENGA_")}
    clean |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    clean |= {"PYTEST_ADDOPTS": f"--rootdir={folder} -c /dev/null"} | env
    ended = subprocess.run(
        [sys.executable, "-c", _GATE, "."],
        cwd=folder,
        env=clean,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_planted_flake_is_reported_and_passes(tmp_path: Path) -> None:
    proof = "import pytest\n\n@pytest.mark.prove\ndef test_long():\n    raise AssertionError\n"

    code, output = run(tmp_path, FLAKE, proof)

    assert code == 0, output
    assert "FLAKY test_0.py::test_flake" in output
    assert re.search(r"first: failed at load [\d.]+, again: passed at load [\d.]+", output)
    assert "before it: test_0.py::test_before" in output
    assert "AssertionError: the planted flake" in output
    assert "collected=3 gate=2 prove_only=1 rotated=0 difference=0" in output


def test_planted_flake_that_fails_twice_is_red(tmp_path: Path) -> None:
    code, output = run(tmp_path, f"{_FLAKY}def test_flake():\n    failing(0, 1)\n")

    assert code == 1
    assert "RED failed twice: test_0.py::test_flake" in output


def test_flake_is_red_when_the_repeat_is_off(tmp_path: Path) -> None:
    code, output = run(tmp_path, FLAKE, THENGA_REPEAT="0")

    assert code == 1
    assert "RED failed: test_0.py::test_flake" in output


@pytest.mark.parametrize(
    "test",
    [
        "@pytest.mark.no_retry\ndef test_leak():\n    failing(0)\n",
        "def test_planted():\n    failing(0)",
    ],
    ids=["marked", "planted"],
)
def test_leak_or_planted_bug_never_runs_again(tmp_path: Path, test: str) -> None:
    code, output = run(tmp_path, _FLAKY + test)

    assert code == 1
    assert "RED never runs again: test_0.py::test_" in output
    assert (tmp_path / "test_0.tries").read_text() == "x"


def test_known_flake_is_red_when_it_fails_again(tmp_path: Path) -> None:
    (tmp_path / "flaky.toml").write_text('[[flaky]]\ntest = "test_0.py::test_flake"\n')

    code, output = run(tmp_path, FLAKE)

    assert code == 1
    assert "RED is in flaky.toml already: test_0.py::test_flake" in output


def test_process_that_dies_is_red(tmp_path: Path) -> None:
    code, output = run(tmp_path, "import os\n\ndef test_dies():\n    os.kill(os.getpid(), 9)\n")

    assert code == 1
    assert re.search(r"RED (front|back) ended with -9", output)


def test_collection_error_is_red(tmp_path: Path) -> None:
    code, output = run(tmp_path, FLAKE, "import nothing_here\n")

    assert code == 1
    assert "RED front ended with 2" in output
    assert "FLAKY" not in output


def test_changed_test_runs_three_times_and_never_again(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    for day in range(1, 7):
        dated = os.environ | {"GIT_COMMITTER_DATE": f"2026-01-0{day}T12:00:00Z"}
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], env=dated, check=True)

    code, output = run(tmp_path, f"{_FLAKY}def test_changed():\n    failing(1, 2)\n")

    assert code == 1
    assert "run three times: 2 of 2 changed tests" in output
    assert "RED changed, and failed of three runs: test_0.py::test_changed" in output


def failures(count: int) -> list[Failure]:
    return [
        Failure(test=f"t{n}", text="", load=0, before=[], may_run_again=True) for n in range(count)
    ]


def test_more_than_three_failures_are_red() -> None:
    assert gate.refusals(failures(3), []) == []
    assert gate.refusals(failures(4), []) == ["4 failures, of which none runs again"]


def test_test_that_did_not_run_or_ran_twice_is_red() -> None:
    both = ["a", "b"]

    found = gate.faults([], [Record(chosen=both, ran=["a"]), Record(chosen=both, ran=["a"])])

    assert found == ["ran 2 times: a", "did not run: 1 tests, such as b"]


NEVER_AGAIN = (
    *("suites/test_tenants_matrix", "suites/test_tenants_parties", "suites/test_tenants_grants"),
    *("suites/test_tenants_database", "suites/test_sweeps_tables", "suites/test_isolation"),
    *("suites/test_idempotency", "suites/test_idempotency_answers", "suites/test_kill"),
    *("suites/test_callback_kill", "suites/test_callbacks", "suites/test_usage_load"),
    *("kernel/test_sealer", "kernel/test_audit_chain", "kernel/test_login_roles"),
    *("domains/billing/test_journal", "domains/billing/test_credit_races"),
)


@pytest.mark.parametrize("file", NEVER_AGAIN)
def test_leaks_and_double_charges_are_marked(file: str) -> None:
    text = (ROOT / f"tests/{file}.py").read_text()

    assert re.search(r"^pytestmark = .*mark\.no_retry", text, re.MULTILINE | re.DOTALL)


def test_flaky_tests_are_few_and_recent() -> None:
    entries = tomllib.loads(gate.FLAKY.read_text()).get("flaky", [])
    changes = submission()
    now = datetime.now(UTC) if changes is None else datetime.fromtimestamp(changes.seconds, UTC)

    assert len(entries) <= 5
    for entry in entries:
        assert entry.keys() == {"test", "date", "commit", "failure"}
        assert isinstance(entry["date"], date)
        assert now.date() - entry["date"] <= timedelta(days=7), f"mend {entry['test']}"
        file, _, name = entry["test"].partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text()
