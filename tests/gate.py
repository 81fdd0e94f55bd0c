"""The gate: `make check` runs lint, types and the tests of its lane, and decides what passes.

Two runs of pytest share the files (tests/ends.py), with lint and types beside them. One to three
failures run once more, each in a fresh process on fresh servers: what passes then is printed as
FLAKY, and the gate passes. Tests that the submission changes run three times. `THENGA_REPEAT=0`
turns both off, as does `make check-domain`.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests import lanes
from tests.records import Failure, Record, part_of
from tests.submission import submission

MOST_FAILURES = 3  # that may run once more
MOST_CHANGED = 60  # that run three times
ROOT = Path(__file__).parents[1]
FLAKY = ROOT / "tests/flaky.toml"
_PYTEST = [sys.executable, "-m", "pytest", "-q"]
_PR_SET_CHILD_SUBREAPER = 36  # of prctl(2)


@dataclass
class Process:
    """A part of the gate while it runs, and how it ended."""

    name: str
    log: Path
    popen: subprocess.Popen[bytes]
    code: int | None = None
    cpu: float = 0.0  # with all that it started and waited for
    seconds: float = 0.0


@dataclass
class Side:
    """Processes side by side, in a folder of their own."""

    folder: Path
    servers: float = 0.0  # CPU: servers outlive the process that started them, and end as ours
    running: dict[int, Process] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    _tests: int = 0
    _shown: int = 0

    def start(self, name: str, command: Sequence[str], **env: str) -> None:
        self.folder.mkdir(exist_ok=True)
        path, given = self.folder / f"{name}.log", os.environ | env
        with path.open("wb") as log:
            started = subprocess.Popen(command, cwd=ROOT, env=given, stdout=log, stderr=log)
        self.running[started.pid] = process = Process(name, path, started)
        self.processes.append(process)

    def start_tests(self, name: str, tests: Sequence[str], **env: str) -> None:
        self.start(name, [*_PYTEST, *tests], THENGA_GATE=str(self.folder), **env)

    def wait(self) -> list[Record]:
        """Until all have ended; what the runs of tests have left."""
        while self.running:
            self._reap()
        return [Record.model_validate_json(p.read_text()) for p in self.folder.glob("*.json")]

    def _reap(self) -> None:
        pid, status, used = os.wait4(-1, os.WNOHANG)
        process = self.running.pop(pid, None)
        if process is not None:
            process.code = process.popen.returncode = os.waitstatus_to_exitcode(status)
            process.cpu = used.ru_utime + used.ru_stime
            process.seconds = time.monotonic() - self.began
        elif pid:
            self.servers += used.ru_utime + used.ru_stime
        else:
            self._show_progress()
            time.sleep(0.1)

    def _show_progress(self) -> None:
        path = self.folder / "progress"
        lines = path.read_text().splitlines() if path.exists() else []
        past = time.monotonic() - self.began
        for line in lines[self._shown :]:
            done, of, what = line.split(maxsplit=2)
            self._tests += int(done)
            left = max(0, past * (int(of) / self._tests - 1))
            print(f"{past:5.0f} s, about {left:.0f} s left: {what}", flush=True)
        self._shown = len(lines)

    def show_logs(self) -> None:
        for process in self.processes:
            took = f"{process.seconds:.0f} s, CPU {process.cpu:.0f} s"
            print(f"== {process.name}: exit {process.code}, {took}")
            print(process.log.read_text(errors="replace"))


def faults(processes: Sequence[Process], records: Sequence[Record]) -> list[str]:
    """What no further try mends: a part that failed, died, or did not run what it should have."""
    tests = [p for p in processes if p.name != "static"]
    found = [
        f"{p.name} ended with {p.code}"
        for p in processes
        if p.code not in ((0, 1, 5) if p in tests else (0,))
    ]
    ran = Counter(test for record in records for test in record.ran)
    missing = {test for record in records for test in record.chosen} - ran.keys()
    found += [f"ran {times} times: {test}" for test, times in ran.items() if times > 1]
    found += [f"did not run: {len(missing)} tests, such as {min(missing)}"] if missing else []
    if sum(p.code == 1 for p in tests) != sum(bool(record.failures) for record in records):
        found.append("a run of tests failed without a failure")
    if len(records) < len(tests):
        found.append("a run of tests left no record")
    return found


def refusals(failures: Sequence[Failure], known: Collection[str]) -> list[str]:
    """Why these failures may not run once more."""
    if len(failures) > MOST_FAILURES:
        return [f"{len(failures)} failures, of which none runs again"]
    found = [f"never runs again: {f.test}" for f in failures if not f.may_run_again]
    return found + [f"is in flaky.toml already: {f.test}" for f in failures if f.test in known]


def run_again(folder: Path, failures: Sequence[Failure]) -> list[str]:
    """Each test once more by itself; those that failed again."""
    failed, changes = [], submission()
    head = "" if changes is None else changes.head
    for number, failure in enumerate(failures):
        side = Side(folder / f"again-{number}")
        side.start_tests("again", [failure.test])
        side.wait()
        code = side.processes[0].code
        print(
            f"FLAKY {failure.test}\n  first: failed at load {failure.load:.1f}, "
            f"again: {'failed' if code else 'passed'} at load {os.getloadavg()[0]:.1f}\n"
            f"  before it: {', '.join(failure.before)}\n{failure.text}\nfor tests/flaky.toml:\n"
            f'[[flaky]]\ntest = "{failure.test}"\ndate = {time.strftime("%Y-%m-%d")}\n'
            f"commit = \"{head[:8]}\"\nfailure = '''{failure.first_line}'''"
        )
        if code:
            failed.append(f"failed twice: {failure.test}")
            side.show_logs()
    return failed


def run_changed(folder: Path, changed: Sequence[str]) -> list[str]:
    """What failed when the tests that changed ran twice more."""
    some = sorted(changed)[:: max(1, -(-len(changed) // MOST_CHANGED))]
    print(f"run three times: {len(some)} of {len(changed)} changed tests")
    side = Side(folder / "changed")
    for name in ("second", "third") if some else ():
        side.start_tests(name, some)
    failed = {test for record in side.wait() for test in record.failures}
    ended = [p for p in side.processes if p.code]
    if ended:
        side.show_logs()
    return [f"changed, and failed of three runs: {test}" for test in sorted(failed)] or [
        f"the {p.name} run of changed tests ended with {p.code}" for p in ended
    ]


def report(side: Side, records: Sequence[Record]) -> Iterator[str]:
    """Figures of the run; they are printed and not judged."""
    parts: Counter[str] = Counter()
    for record in records:
        for file, seconds in record.cpu.items():
            parts[part_of(file)] += seconds
    yield from (f"{seconds:7.1f} CPU s  {part}" for part, seconds in parts.most_common())
    for process in side.processes:
        yield f"{process.name}: wall {process.seconds:.0f} s, CPU {process.cpu:.0f} s"
    python = sum(record.python for record in records)
    children = sum(p.cpu for p in side.processes) - python
    ran = sum(len(record.ran) for record in records)
    walked, rotated = sum(r.walked for r in records), sum(r.rotated for r in records)
    collected, prove_only = records[0].collected + walked + rotated, records[0].prove_only
    yield (
        f"gate wall={time.monotonic() - side.began:.0f} python_cpu={python:.0f} "
        f"children_cpu={children:.0f} servers_cpu={side.servers:.0f} tests={ran} "
        f"load={os.getloadavg()[0]:.1f}"
    )
    if "THENGA_DOMAIN" in os.environ:
        return
    yield (
        f"collected={collected} gate={ran + walked} prove_only={prove_only} rotated={rotated} "
        f"difference={collected - ran - walked - prove_only - rotated}"
    )


def main(asked: Sequence[str]) -> int:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    known = [entry["test"] for entry in tomllib.loads(FLAKY.read_text()).get("flaky", [])]
    domain = os.environ.get("THENGA_DOMAIN")
    tests = lanes.files_of(domain) if domain else asked
    with tempfile.TemporaryDirectory(prefix="thenga-gate-") as name:
        folder = Path(name)
        claims, side = folder / "claims", Side(folder)
        claims.mkdir()
        for end in ("front", "back"):
            side.start_tests(end, tests, THENGA_CLAIMS=str(claims), THENGA_END=end)
        if not asked:
            side.start("static", ["make", "--no-print-directory", "-k", "lint", "types"])
        records = side.wait()
        red = faults(side.processes, records)
        failures = [failure for record in records for failure in record.failures.values()]
        if red or failures:
            side.show_logs()
        print(*report(side, records) if records else (), sep="\n")
        red += refusals(failures, known)
        if domain or os.environ.get("THENGA_REPEAT") == "0":
            red += [f"failed: {failure.test}" for failure in failures]
        elif not red:
            red = run_again(folder, failures)
            red += run_changed(folder, records[0].changed)
    print(*(f"RED {reason}" for reason in red), sep="\n")
    print(f"gate {'failed' if red else 'passed'}")
    return int(bool(red))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
