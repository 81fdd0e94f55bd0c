"""What the tests cost in CPU, by file and part, and what they may cost (design: testing.md).

CPU of one and the same work varies by half on a shared machine, so every figure is in seconds of a
reference machine: a loop is timed next to each test file, and what it took says how fast this
machine is just then. A run that is given `THENGA_BUDGETS` leaves its figures in that folder;
`python -m tests.budgets FOLDER` judges all runs of the folder together.
"""

import json
import os
import resource
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

FILE_SECONDS = 15.0
PLAIN_TEST_SECONDS = 1.0
START = "start and collection"
OTHER = "other"

_LOOP_ROUNDS = 60_000
_LOOP_SECONDS = 0.0100  # CPU that the loop takes on the machine that the budgets were set on

# The first prefix that fits says to which part a file belongs, and the part's budget follows.
PARTS = (
    ("tests/kernel/", "kernel and architecture"),
    ("tests/architecture/", "kernel and architecture"),
    ("tests/domains/identity/", "domain identity"),
    ("tests/domains/billing/", "domain billing"),
    ("tests/domains/", "domain {name}"),
    ("tests/flows/", "flows"),
    ("tests/suites/test_schema_fuzz", "walks"),
    ("tests/suites/test_corpus", "walks"),
    ("tests/suites/test_tenants_", "walks"),
    ("tests/suites/test_examples", "walks"),
    ("tests/suites/test_sweeps_", "walks"),
    ("tests/suites/test_idempotency", "walks"),
    ("tests/suites/test_locations", "walks"),
    ("tests/suites/", "fault and time suites"),
)
DOMAIN_SECONDS = 60.0
BUDGETS = {
    "kernel and architecture": 120.0,
    "domain identity": 150.0,
    "domain billing": 150.0,
    "flows": 60.0,
    "walks": 250.0,
    "fault and time suites": 120.0,
    START: 70.0,
}

# What may cost more than a file or a plain test may, with the reason and its own bound.
EXCEPTIONS: dict[str, tuple[float, str]] = {}


@dataclass
class Costs:
    """CPU seconds of a run, as measured."""

    loops: list[float] = field(default_factory=list)
    start: float = 0.0
    files: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    tests: dict[str, float] = field(default_factory=dict)
    settled: list[str] = field(default_factory=list)

    def speed(self) -> float:
        """How many times as long as on the reference machine the same work takes here."""
        return statistics.median(self.loops) / _LOOP_SECONDS if self.loops else 1.0


def part_of(file: str) -> str:
    for prefix, part in PARTS:
        if file.startswith(prefix):
            return part.format(name=file.removeprefix(prefix).partition("/")[0])
    return OTHER


def judge(costs: list[Costs]) -> list[str]:
    """What costs more than its budget, each as a line."""
    over = []
    parts: dict[str, float] = defaultdict(float)
    for one in costs:
        speed = one.speed()
        parts[START] += one.start / speed
        for file, seconds in one.files.items():
            parts[part_of(file)] += seconds / speed
            over += _above(file, seconds / speed, FILE_SECONDS)
        for test, seconds in one.tests.items():
            plain = test.startswith(("tests/domains/", "tests/kernel/"))
            if plain and test not in one.settled:
                over += _above(test, seconds / speed, PLAIN_TEST_SECONDS)
    for part, seconds in parts.items():
        over += _above(part, seconds, BUDGETS.get(part, DOMAIN_SECONDS))
    return over


def _above(name: str, seconds: float, usual: float) -> list[str]:
    bound = EXCEPTIONS.get(name, (usual, ""))[0]
    return [f"{name}: {seconds:.1f} of {bound:g} CPU s"] if seconds > bound else []


def report(costs: list[Costs]) -> Iterator[str]:
    """Parts, then the ten slowest files, in seconds of the reference machine."""
    parts: dict[str, float] = defaultdict(float)
    files: dict[str, float] = defaultdict(float)
    for one in costs:
        parts[START] += one.start / one.speed()
        for file, seconds in one.files.items():
            parts[part_of(file)] += seconds / one.speed()
            files[file] += seconds / one.speed()
    speeds = ", ".join(f"{one.speed():.2f}" for one in costs)
    yield f"CPU seconds of the reference machine; this one takes {speeds} times as long"
    for part, seconds in sorted(parts.items(), key=lambda pair: -pair[1]):
        yield f"{seconds:8.1f} of {BUDGETS.get(part, DOMAIN_SECONDS):5g}  {part}"
    yield f"{sum(parts.values()):8.1f}           all; the slowest files:"
    for file, seconds in sorted(files.items(), key=lambda pair: -pair[1])[:10]:
        yield f"{seconds:8.1f}           {file}"


def cpu() -> float:
    """User and system time of this process and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def time_loop() -> float:
    """CPU of a fixed piece of work."""
    began = time.thread_time()
    kept: dict[int, str] = {}
    for number in range(_LOOP_ROUNDS):
        kept[number & 1023] = str(number)
    return time.thread_time() - began


class Measuring:
    """The plugin of a run: notes what each file and test costs, apart from session fixtures."""

    def __init__(self) -> None:
        self.costs = Costs(start=cpu())
        self._shared = 0.0
        self._depth = 0
        self._file = ""

    def pytest_collection_finish(self) -> None:
        self.costs.start = cpu()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        if fixturedef.scope != "session":
            return (yield)
        began, self._depth = cpu(), self._depth + 1
        try:
            return (yield)
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._shared += cpu() - began

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        file = item.nodeid.partition("::")[0]
        if file != self._file:
            self._file = file
            self.costs.loops.append(min(time_loop() for _ in range(3)))
        began, self._shared = cpu(), 0.0
        try:
            return (yield)
        finally:
            spent = cpu() - began - self._shared
            self.costs.start += self._shared
            self.costs.files[file] += spent
            self.costs.tests[item.nodeid] = spent
            if "settle" in getattr(item, "fixturenames", ()):
                self.costs.settled.append(item.nodeid)

    def pytest_sessionfinish(self) -> None:
        folder = os.environ.get("THENGA_BUDGETS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            path = Path(folder) / f"{os.getpid()}.json"
            path.write_text(json.dumps(vars(self.costs)))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in report([self.costs]):
            terminalreporter.write_line(line)


def main(folder: Path) -> int:
    """Judge all runs of a folder together."""
    costs = [Costs(**json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
    print(*report(costs), sep="\n")
    over = judge(costs)
    if over:
        print("above budget:", *over, sep="\n  ")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
