"""A process that leaves is not ready at once, serves on while the balancer notices, then ends."""

import os
import signal
import time
from pathlib import Path

import httpx2

from tests.suites.processes import ApiProcess
from thenga.kernel.settings import Settings


def test_a_process_that_is_asked_to_leave_fails_nobody(settings: Settings, tmp_path: Path):
    env = {key: value for key, value in os.environ.items() if key.startswith("THENGA_")}
    api = ApiProcess(env, tmp_path, name="leaving")
    api.start()

    with httpx2.Client(base_url=api.origin) as client:
        os.kill(api.pid or 0, signal.SIGTERM)
        began = time.perf_counter()
        time.sleep(0.3)
        ready = client.get("/health/ready")
        served = [client.get("/health/live").status_code for _ in range(200)]
    while api.is_running() and time.perf_counter() - began < 60:
        time.sleep(0.05)
    took = time.perf_counter() - began

    assert (ready.status_code, ready.json()["missing"]) == (503, ["draining"])
    assert served == [200] * 200
    assert 2.0 <= took < 60.0
    print(f"\nrestart served_after_sigterm=200 failed=0 seconds={took:.1f}")
