"""The walks of `make check` leave nothing out for ever, and everything that matters never."""

import subprocess
from pathlib import Path

import pytest

from tests.suites import rotation
from tests.suites.rotation import Rotation
from thenga import topology
from thenga.kernel.http.document.operations import operations

OPERATIONS = operations(topology.load(topology.DOMAINS))
BILLING = "src/thenga/domains/billing/services/catalogue/plans.py"


def names(made: Rotation, domain: str) -> set[str]:
    return {one.name for one in made.of(OPERATIONS) if one.domain.name == domain}


def test_changed_domain_is_walked_whole_others_by_thirds() -> None:
    made = rotation.chosen([BILLING, "docs/map.md"], "a" * 40)

    every = {one.name for one in OPERATIONS if one.domain.name == "identity"}
    share = len(names(made, "identity")) / len(every)
    print(made.told(OPERATIONS))
    assert names(made, "billing") == {o.name for o in OPERATIONS if o.domain.name == "billing"}
    assert 0.15 < share < 0.55


def test_every_operation_has_its_turn() -> None:
    walked = {
        one.name
        for number in range(40)
        for one in rotation.chosen([], f"{number:040x}").of(OPERATIONS)
    }

    assert walked == {one.name for one in OPERATIONS}


@pytest.mark.parametrize(
    "path",
    [
        "src/thenga/kernel/db/reader.py",
        "src/thenga/main.py",
        "src/thenga/domains/identity/services/decisions/_stages.py",
        "src/thenga/domains/identity/provider.py",
        "tests/suites/matrix.py",
    ],
)
def test_a_change_that_everybody_passes_walks_everything(path: str) -> None:
    made = rotation.chosen([BILLING, path], "a" * 40)

    assert made.of(OPERATIONS) == OPERATIONS
    assert path in made.told(OPERATIONS)


def test_everything_that_is_named_as_everybodys_is_there() -> None:
    root = Path(__file__).parents[2]

    assert [one for one in rotation._EVERYBODYS if not list(root.glob(f"{one}*"))] == []


def test_a_copy_without_enough_history_walks_everything(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)

    assert rotation._of_history(tmp_path).of(OPERATIONS) == OPERATIONS


def test_a_copy_without_git_walks_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("THENGA_PROVE", "THENGA_DOMAIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(rotation, "_ROOT", tmp_path)

    assert rotation.rotation.__wrapped__().of(OPERATIONS) == OPERATIONS


def test_one_domain_alone_walks_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THENGA_PROVE", raising=False)
    monkeypatch.setenv("THENGA_DOMAIN", "billing")

    made = rotation.rotation.__wrapped__()

    assert {one.domain.name for one in made.of(OPERATIONS)} == {"billing"}
