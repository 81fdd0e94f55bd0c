"""What a run of pytest did, kept for the gate: a record in the folder that `THENGA_GATE` names.

Whenever a file of tests ends, the run adds a line to `progress` there.
"""

import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from tests import lanes
from tests.lanes import file_of
from tests.suites import preloaded


class Failure(BaseModel):
    """A test that failed, and what may have to do with it."""

    test: str
    text: str
    load: float
    before: list[str]
    may_run_again: bool

    @property
    def first_line(self) -> str:
        lines = [line[2:] for line in self.text.splitlines() if line.startswith("E ")]
        return (lines or self.text.splitlines() or [""])[0].strip()


class Record(BaseModel):
    """One run."""

    collected: int = 0
    prove_only: int = 0
    walked: int = 0  # operations, by all walks
    rotated: int = 0  # operations that walks left to another turn
    chosen: list[str] = []
    changed: list[str] = []  # tests whose function the submission changes, one for each function
    ran: list[str] = []
    failures: dict[str, Failure] = {}
    cpu: dict[str, float] = defaultdict(float)  # by file, with the processes that it started
    python: float = 0.0  # CPU of this process alone


class Recording:
    """The plugin of a run that makes its record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._record = Record()
        self._began: dict[str, float] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        record, items = self._record, session.items
        record.prove_only = session.config.stash.get(lanes.PROVE_ONLY, 0)
        record.collected = len(items) + record.prove_only
        record.chosen = [item.nodeid for item in items]
        functions = {item.nodeid.partition("[")[0]: item for item in items}
        record.changed = [i.nodeid for i in functions.values() if lanes.is_changed(i)]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Iterator[None]:
        record, file, used = self._record, file_of(item.nodeid), cpu()
        self._began.setdefault(file, time.monotonic())
        try:
            return (yield)
        finally:
            record.ran.append(item.nodeid)
            record.cpu[file] += cpu() - used
            if item.nodeid in record.failures:
                record.failures[item.nodeid].may_run_again = lanes.may_run_again(item)
            if nextitem is None or file_of(nextitem.nodeid) != file:
                self._note_progress(file)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record = self._record
        if report.when == "teardown":
            for name, value in report.user_properties:
                setattr(record, name, getattr(record, name) + value)
        if report.failed and report.nodeid not in record.failures:
            record.failures[report.nodeid] = Failure(
                test=report.nodeid,
                text=report.longreprtext,
                load=os.getloadavg()[0],
                before=record.ran[-5:],
                may_run_again=False,
            )

    def _note_progress(self, file: str) -> None:
        record = self._record
        ran = sum(file_of(test) == file for test in record.ran)
        failed = sum(file_of(test) == file for test in record.failures)
        wall = time.monotonic() - self._began[file]
        took = f"{ran} tests in {wall:.1f} s, CPU {record.cpu[file]:.1f} s"
        with (self._folder / "progress").open("a") as progress:
            end = f", {failed} FAILED" if failed else ""
            progress.write(f"{ran} {len(record.chosen)} {file}: {took}{end}\n")

    def pytest_sessionfinish(self) -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        self._record.python = used.ru_utime + used.ru_stime
        (self._folder / f"{os.getpid()}.json").write_text(self._record.model_dump_json())


def part_of(file: str) -> str:
    """The part of the tests whose cost a file counts to."""
    _, folder, domain, *_ = *Path(file).parts, "", ""
    part = f"domain {domain}" if folder == "domains" else folder
    return "walks" if file in lanes.WALKS else part


def cpu() -> float:
    """User and system time of this process and of its children that have ended."""
    return preloaded.own_cpu_seconds() + preloaded.cpu_seconds()


def register(config: pytest.Config) -> None:
    folder = os.environ.get("THENGA_GATE")
    if folder:
        config.pluginmanager.register(Recording(Path(folder)), "records")
