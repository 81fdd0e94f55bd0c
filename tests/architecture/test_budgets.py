"""The budgets of the test run find what costs too much, whatever the speed of the machine."""

from tests import budgets
from tests.budgets import Costs

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
    assert budgets.judge([_costs(1.1)]) == [f"{FILE}::test_it: 1.1 of 1 CPU s"]
    assert budgets.judge([_costs(1.1, settled=True)]) == []


def test_a_planted_slow_domain_is_found_across_runs() -> None:
    runs = [_costs(13, settled=True) for _ in range(5)]

    assert budgets.judge(runs) == ["domain organization: 65.0 of 60 CPU s"]


def test_what_is_within_its_budget_passes_on_a_slow_machine() -> None:
    assert budgets.judge([_costs(0.9, times=4)]) == []


def test_every_exception_has_a_reason_and_names_a_file() -> None:
    for name, (bound, reason) in budgets.EXCEPTIONS.items():
        assert bound > 0 and len(reason) > 20, name
        assert budgets.part_of(name.partition("::")[0]) != budgets.OTHER, name
