"""The budgets of the test run find what costs too much, whatever the speed of the machine."""

from pathlib import Path

import pytest

from tests import budgets
from tests.budgets import Costs, Measuring

FILE = "tests/domains/organization/test_equipment.py"


def _costs(seconds: float, *, times: float = 1.0, settled: bool = False) -> Costs:
    """A run of one file with one test, on a machine so many times as slow."""
    test = f"{FILE}::test_it"
    return Costs(
        loops=[budgets._LOOP_SECONDS * times],
        files={FILE: seconds * times},
        tests={test: seconds * times},
        settled=[test] if settled else [],
    )


def test_a_planted_slow_file_is_found_on_any_machine() -> None:
    found = [budgets.judge([_costs(16, times=times, settled=True)]) for times in (0.5, 1, 3)]

    assert found == [[f"{FILE}: 16.0 of 15 CPU s"]] * 3


def test_a_planted_slow_plain_test_is_found() -> None:
    assert budgets.slow_tests([_costs(1.1)]) == [f"{FILE}::test_it: 1.1 of 1 CPU s"]
    assert budgets.slow_tests([_costs(1.1, settled=True)]) == []


def test_a_planted_slow_domain_is_found_across_runs() -> None:
    runs = [_costs(13, settled=True) for _ in range(5)]

    assert budgets.judge(runs) == ["domain organization: 65.0 of 60 CPU s"]


def test_what_is_within_its_budget_passes_on_a_slow_machine() -> None:
    assert budgets.judge([_costs(0.9, times=4)]) == []


SLOW = """
import time

def test_it():
    began = time.process_time()
    while time.process_time() - began < 0.3:
        pass
"""


def test_a_run_with_a_planted_slow_file_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plugin in a run of its own, and the judgement over what it left."""
    path, folder = tmp_path / FILE, tmp_path / "budgets"
    path.parent.mkdir(parents=True)
    path.write_text(SLOW)
    monkeypatch.setenv("THENGA_BUDGETS", str(folder))
    monkeypatch.setattr(budgets, "FILE_SECONDS", 0.01)
    asked = [str(path), f"--rootdir={tmp_path}", "-q", "-p", "no:cacheprovider"]

    ended = pytest.main([*asked, "-c", "/dev/null", "-p", "no:asyncio"], plugins=[Measuring()])
    judged = budgets.main(folder, FILE)

    told = capsys.readouterr().out
    assert (ended, judged) == (0, 1)
    assert f"{FILE}, wall" in told
    assert f"{FILE}: 0." in told.partition("above budget:")[2]
    monkeypatch.setattr(budgets, "FILE_SECONDS", 15.0)
    assert budgets.main(folder, FILE) == 0


def test_an_exception_of_a_file_is_for_each_of_its_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(budgets.EXCEPTIONS, f"{FILE}::", (2.0, "a reason"))

    assert budgets.slow_tests([_costs(1.9)]) == []
    assert budgets.slow_tests([_costs(2.1)]) == [f"{FILE}::test_it: 2.1 of 2 CPU s"]


def test_every_exception_has_a_reason_and_names_a_file_or_a_part() -> None:
    root = Path(__file__).parents[2]
    for name, (bound, reason) in budgets.EXCEPTIONS.items():
        file = name.partition("::")[0]
        assert bound > 0 and len(reason) > 20, name
        known = budgets.part_of(file) != budgets.OTHER and (root / file).is_file()
        assert known or name in budgets.BUDGETS, name
