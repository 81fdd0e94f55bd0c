"""Commands of `thenga` that change an installation, run as an operator runs them."""

import asyncio
import os
import subprocess
import sys

from thenga import starting, topology


async def thenga(*arguments: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a command as a process of its own, on the servers of this run; `given` is its input."""
    return await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "thenga", *arguments],
        env=_settings(),
        input=given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _settings() -> dict[str, str]:
    """The environment without the variables of the test run, which are settings of nothing."""
    of_tests = {line.partition(":")[0] for line in starting.unknown(topology.environments())}
    return {name: value for name, value in os.environ.items() if name not in of_tests}
