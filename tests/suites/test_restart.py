"""A process that leaves is not ready at once, serves on while the balancer notices, then ends."""

import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

import httpx2

from tests.suites.processes import ApiProcess
from thenga.kernel.http import serving
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev.processes import wait

_TRIES = 5


class Left(NamedTuple):
    """What was answered while a process left."""

    ready: httpx2.Response
    served: int
    failed_after: float | None
    took: float


def test_a_process_that_is_asked_to_leave_fails_nobody(settings: Settings, tmp_path: Path) -> None:
    env = {key: value for key, value in os.environ.items() if key.startswith("THENGA_")}
    left = None
    for _ in range(_TRIES):
        left = left or _left(ApiProcess(env, tmp_path, name="leaving"))

    assert left is not None, "the machine stood still whenever the process left"
    print(f"\nrestart served_after_sigterm={left.served} seconds={left.took:.1f}")
    assert (left.ready.status_code, left.ready.json()["missing"]) == (503, ["draining"])
    assert left.served > 0
    assert left.failed_after is None, f"refused {left.failed_after} s after it was asked to leave"
    assert left.took >= serving.NOTICE_SECONDS


def _left(api: ApiProcess) -> Left | None:
    """How a process left, or nothing where this machine did not look within its notice."""
    api.start()
    with httpx2.Client(base_url=api.origin, timeout=60) as client:
        began = time.perf_counter()
        over = began + serving.NOTICE_SECONDS
        os.kill(api.pid or 0, signal.SIGTERM)
        try:
            while (ready := client.get("/health/ready")).status_code == 200:
                time.sleep(0.01)
            served, failed_at = _served(client, over)
        except httpx2.TransportError:
            assert time.perf_counter() > over
            served, failed_at, ready = 0, None, None
    assert wait(lambda: not api.is_running(), 60)
    if ready is None or not served:
        return None
    failed_after = None if failed_at is None else failed_at - began
    return Left(ready, served, failed_after, time.perf_counter() - began)


def _served(client: httpx2.Client, until: float) -> tuple[int, float | None]:
    """The calls that were answered until then, and when one was refused before that."""
    served = 0
    while time.perf_counter() < until and served < 200:
        try:
            assert client.get("/health/live").status_code == 200
        except httpx2.TransportError:
            now = time.perf_counter()
            return served, now if now < until else None
        served += 1
    return served, None
