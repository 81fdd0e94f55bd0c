"""Isolated children: each misdeed has a named failure in time, and the next call goes on."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from tests.kernel.running import until_true
from tests.planting import plant
from tests.suites import isolated_functions as functions
from tests.suites.sizes import size
from thenga.kernel.outside import isolation
from thenga.kernel.outside.isolation import Isolated, IsolationFailed, Reason, run_isolated
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev import doctor

pytestmark = pytest.mark.no_retry

SECONDS = 20.0  # a child's start alone takes a while on a busy machine
HASTY = 2.0

# What each function of the tests ends with; None is an answer.
EXPECTED: dict[str, Reason | None] = {
    "reverse": None,
    "eat_memory": Reason.MEMORY,
    "loop": Reason.TIME,
    "sleep": Reason.TIME,
    "open_socket": Reason.FORBIDDEN,
    "open_socket_in_c": None,
    "start_process": Reason.FORBIDDEN,
    "leave_process_behind": None,
    "crash": Reason.CRASHED,
    "leave": Reason.CRASHED,
    "fail": Reason.FAILED,
    "write_file": Reason.FORBIDDEN,
    "answer_too_much": Reason.TOO_LARGE,
    "answer_no_json": Reason.FAILED,
    "nowhere_to_be_found": Reason.FAILED,
}


@dataclass
class Stage:
    """A server that children must not reach, a file they must not write, and all that ran."""

    port: int
    file: Path
    hits: int = 0
    begun: int = 0  # children, also those whose process does not stand yet
    started: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    longest: float = 0.0

    def leaked(self) -> set[int]:
        """Processes that live on in the session of a child, the child itself included."""
        found = set()
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                ended = "State:\tZ" in (entry / "status").read_text()  # whoever adopted it is slow
                if not ended and os.getsid(int(entry.name)) in self.started:
                    found.add(int(entry.name))
        return found

    async def call(self, name: str) -> None:
        seconds = HASTY if EXPECTED[name] is Reason.TIME else SECONDS
        options = {"port": self.port, "path": str(self.file)}
        began, reason = time.monotonic(), None
        try:
            await call(name, seconds=seconds, **options)
        except IsolationFailed as failure:
            reason = failure.reason
        self.longest = max(self.longest, time.monotonic() - began)
        if reason is not EXPECTED[name]:
            self.wrong.append(f"{name}: {reason}")

    async def call_all(self, calls: int) -> None:
        """Each function in turn, as many at a time as there may be children."""
        names = islice(cycle(EXPECTED), calls)

        async def caller() -> None:
            for name in names:
                await self.call(name)

        await asyncio.gather(*(caller() for _ in range(isolation.CHILDREN)))


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Stage]:
    def hit(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.hits += 1
        writer.close()

    start = asyncio.create_subprocess_exec

    async def starting(*arguments: Any, **more: Any) -> Any:
        made.begun += 1
        child = await start(*arguments, **more)
        made.started.append(child.pid)
        return child

    monkeypatch.setattr(asyncio, "create_subprocess_exec", starting)
    server = await asyncio.start_server(hit, "127.0.0.1", 0)
    made = Stage(server.sockets[0].getsockname()[1], tmp_path / "written")
    yield made
    server.close()
    for left in made.leaked():
        os.kill(left, signal.SIGKILL)


async def call(
    name: str, content: bytes = b"bytes", *, seconds: float = SECONDS, **options: Any
) -> Isolated:
    return await run_isolated(f"{functions.__name__}:{name}", content, options, seconds=seconds)


async def test_bytes_and_json_go_in_and_come_out() -> None:
    found = await call("reverse", b"\x00abc", page=3, title="Ḽeḓa")

    assert found == Isolated(b"cba\x00", {"length": 4, "page": 3, "title": "Ḽeḓa"})


async def test_a_child_knows_nothing_of_us() -> None:
    found = (await call("surroundings")).values

    assert found["environment"] in ([], ["LC_CTYPE"])  # which Python sets itself
    assert (found["folder"], found["files"], found["memory"]) == ("/", 32, 256 * 1024 * 1024)
    assert found["group"] != os.getpgid(0)


async def test_what_a_function_prints_is_no_answer() -> None:
    assert (await call("print_something")).content == b"right"


@pytest.mark.prove
async def test_every_misdeed_has_its_failure_and_the_next_call_goes_on(stage: Stage) -> None:
    await stage.call_all(size(2 * len(EXPECTED), 200))

    leaked = stage.leaked()
    print(
        f"children={len(stage.started)} leaked={len(leaked)} network={stage.hits} "
        f"longest_s={stage.longest:.1f}"
    )
    assert stage.wrong == []
    assert (leaked, stage.hits, stage.file.exists()) == (set(), 0, False)
    assert stage.longest < SECONDS


async def test_a_failure_tells_nothing_of_the_document() -> None:
    with pytest.raises(IsolationFailed) as caught:
        await call("fail", b"canary")

    assert str(caught.value) == "failed: ValueError"


@pytest.mark.prove
async def test_two_children_run_at_a_time(stage: Stage) -> None:
    calls = [asyncio.create_task(call("sleep", seconds=HASTY)) for _ in range(3)]
    await until_true(lambda: len(stage.started) == 2)
    begun = stage.begun  # all three had their turn before the first child stood
    done = await asyncio.gather(*calls, return_exceptions=True)

    assert (begun, len(stage.started)) == (2, 3)
    assert all(isinstance(one, IsolationFailed) for one in done)


@pytest.mark.prove
async def test_a_cancelled_call_ends_its_child(stage: Stage) -> None:
    calling = asyncio.create_task(call("sleep"))
    while not stage.started:
        await asyncio.sleep(0.01)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert stage.leaked() == set()


def altered(folder: Path, *lines: str) -> Path:
    """The script of a child without these lines."""
    text = isolation._CHILD.read_text()
    for line in lines:
        assert line in text
        text = text.replace(line, "    pass\n")
    script = folder / "isolated_child.py"
    script.write_text(text)
    return script


NO_NAMESPACE, NO_FILTER, NO_HOOK = (
    "    leave_network()\n",
    "    filter_calls()\n",
    "    sys.addaudithook(_refuse)\n",
)


@pytest.mark.prove
@pytest.mark.parametrize(
    ("function", "missing"),
    [
        ("open_socket_in_c", (NO_FILTER, NO_HOOK)),
        ("open_socket_in_c", (NO_NAMESPACE, NO_HOOK)),
        ("open_socket", (NO_NAMESPACE, NO_FILTER)),
    ],
)
async def test_each_wall_keeps_the_network_out_alone(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    function: str,
    missing: tuple[str, ...],
) -> None:
    plant(monkeypatch, isolation, "_CHILD", altered(tmp_path, *missing))

    await stage.call(function)

    assert (stage.wrong, stage.hits) == ([], 0)


@pytest.mark.prove
async def test_a_process_that_a_child_has_started_ends_with_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant(monkeypatch, isolation, "_CHILD", altered(tmp_path, NO_FILTER))

    await stage.call("leave_process_behind")

    assert stage.leaked() == set()


async def test_the_doctor_tells_which_walls_children_have(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    production = settings.model_copy(update={"production": True})

    async def told(by: Settings) -> doctor.Finding:
        return (await asyncio.to_thread(lambda: list(doctor._isolation(by))))[0]

    assert (await told(production))[:3] == ("isolation", True, "own network, no sockets")
    plant(monkeypatch, isolation, "_CHILD", altered(tmp_path, NO_NAMESPACE, NO_FILTER))
    assert (await told(settings))[:3] == ("isolation", True, "refused in Python only")
    assert not (await told(production)).ok


async def test_a_planted_child_with_a_network_is_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = altered(tmp_path, NO_NAMESPACE, NO_FILTER, NO_HOOK)
    plant(monkeypatch, isolation, "_CHILD", script)

    await stage.call("open_socket")
    await stage.call("open_socket_in_c")

    assert stage.wrong == ["open_socket: None"]
    assert stage.hits == 2


@pytest.mark.prove
async def test_a_planted_pool_that_leaves_children_is_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forget(child: asyncio.subprocess.Process) -> None:
        pass

    plant(monkeypatch, isolation, "_end", forget)
    await stage.call("reverse")

    assert len(stage.leaked()) == 1
