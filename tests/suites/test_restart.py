"""A process that leaves is not ready at once, serves on while the balancer notices, then ends."""

import os
import signal
import time
from pathlib import Path

import httpx2

from tests.suites.processes import ApiProcess
from thenga.kernel.http import serving
from thenga.kernel.settings import Settings
from thenga.tooling.dev.processes import wait


def test_a_process_that_is_asked_to_leave_fails_nobody(settings: Settings, tmp_path: Path):
    env = {key: value for key, value in os.environ.items() if key.startswith("THENGA_")}
    api = ApiProcess(env, tmp_path, name="leaving")
    api.start()

    with httpx2.Client(base_url=api.origin) as client:
        began = time.perf_counter()
        os.kill(api.pid or 0, signal.SIGTERM)
        while (ready := client.get("/health/ready")).status_code == 200:
            time.sleep(0.01)
        served, failed_at = _served(client, began + serving.NOTICE_SECONDS)
    assert wait(lambda: not api.is_running(), 60)
    took = time.perf_counter() - began

    print(f"\nrestart served_after_sigterm={served} seconds={took:.1f}")
    assert (ready.status_code, ready.json()["missing"]) == (503, ["draining"])
    assert served > 0
    assert failed_at is None, f"refused {failed_at - began:.2f} s after it was asked to leave"
    assert took >= serving.NOTICE_SECONDS


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
