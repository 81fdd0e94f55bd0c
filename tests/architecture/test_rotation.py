"""The walks of `make check` leave nothing out for ever, and what changed never."""

import subprocess
from pathlib import Path

import pytest

from tests import lanes, submission
from tests.submission import Submission
from tests.suites import rotation
from thenga import topology
from thenga.kernel.http.document.operations import operations

OPERATIONS = operations(topology.load(topology.DOMAINS))
NAMES = {each.name for each in OPERATIONS}
ROOT = Path(__file__).parents[2]
HOUR = 3600


def changing(*files: str, hours: int = 0) -> Submission:
    return Submission("a" * 40, hours * HOUR, {file: frozenset() for file in files})


def test_changed_domain_is_walked_whole_others_by_thirds() -> None:
    made = rotation.chosen(changing("src/thenga/domains/billing/tables/plans.py", "docs/map.md"))

    walked = made.of(OPERATIONS)
    others = sum(each.domain.name != "billing" for each in OPERATIONS)
    share = sum(each.domain.name != "billing" for each in walked) / others
    print(made.summary(OPERATIONS))
    assert [
        each for each in OPERATIONS if each.domain.name == "billing" and each not in walked
    ] == []
    assert 0.25 < share < 0.42


def test_three_turns_walk_every_operation() -> None:
    turns = [rotation.chosen(changing(hours=8 * turn)).of(OPERATIONS) for turn in (9, 10, 11)]

    unwalked = NAMES - {each.name for turn in turns for each in turn}
    print(f"turns={[len(turn) for turn in turns]} unwalked={len(unwalked)}")
    assert unwalked == set()
    assert sum(len(turn) for turn in turns) == len(OPERATIONS)


def test_change_of_the_kernel_brings_back_its_suites(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes = changing("src/thenga/kernel/events/relay.py")
    monkeypatch.setattr(lanes, "submission", lambda: changes)

    assert lanes.suites_back() == {
        f"tests/suites/test_{name}.py" for name in ("late_commit", "amnesia", "kill")
    }
    assert len(rotation.chosen(changes).of(OPERATIONS)) < len(OPERATIONS) / 2


def test_files_and_suites_of_the_table_exist() -> None:
    suites = {f"tests/suites/{name}.py" for names in lanes.BROUGHT_BACK.values() for name in names}

    assert [
        f for f in (*lanes.BROUGHT_BACK, *suites, *lanes.WALKS) if not (ROOT / f).is_file()
    ] == []


def test_suites_of_the_table_have_tests_that_only_prove_runs() -> None:
    names = {name for names in lanes.BROUGHT_BACK.values() for name in names}
    unmarked = {n for n in names if "mark.prove" not in (ROOT / f"tests/suites/{n}.py").read_text()}

    assert unmarked == set()


def test_copy_without_enough_history_walks_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)
    monkeypatch.delenv("THENGA_LANDED", raising=False)
    monkeypatch.setattr(rotation, "submission", lambda: submission.read(tmp_path))

    assert _without_settings(monkeypatch).of(OPERATIONS) == OPERATIONS


def test_copy_without_git_walks_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "ROOT", tmp_path)
    monkeypatch.setattr(rotation, "submission", submission.submission.__wrapped__)

    assert _without_settings(monkeypatch).of(OPERATIONS) == OPERATIONS


def test_one_domain_alone_walks_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _without_settings(monkeypatch, THENGA_DOMAIN="billing")

    assert {each.domain.name for each in made.of(OPERATIONS)} == {"billing"}


def _without_settings(monkeypatch: pytest.MonkeyPatch, **env: str) -> rotation.Rotation:
    for name in ("THENGA_PROVE", "THENGA_DOMAIN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return rotation.rotation.__wrapped__()


def test_submission_names_changed_lines_and_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THENGA_LANDED", raising=False)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "kept.py").write_text("1\n2\n3\n4\n")
    for day in range(1, 8):
        env = {"GIT_COMMITTER_DATE": f"2026-01-0{day}T12:00:00Z"}
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], env=env, check=True)
    (tmp_path / "kept.py").write_text("1\n2\nchanged\n4\n")
    (tmp_path / "new.py").write_text("1\n")

    changes = submission.read(tmp_path)

    assert changes is not None
    assert changes.lines.keys() == {"kept.py", "new.py"}
    assert changes.lines["kept.py"] == {3}


def test_every_flow_says_to_which_domains_it_belongs() -> None:
    for path in (ROOT / "tests/flows").glob("test_*.py"):
        marked = path.read_text().partition("pytestmark = pytest.mark.domains(")[2]
        named = {word.strip(' ",\n') for word in marked.partition(")")[0].split(",")} - {""}
        assert named and named <= set(topology.DOMAINS), path.name
