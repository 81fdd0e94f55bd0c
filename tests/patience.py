"""Time-outs in tests: twenty times as long, so that a busy machine is not taken for silence.

A port or a Redis that answers late makes the product decide without it, and a request, a statement
or a wait for a connection that takes long is ended. That is right in production and a failure by
chance in a test, unless the time-out is its subject: such a test is marked `real_timeouts`.
"""

import os

from thenga import topology
from thenga.kernel.declare.port import PORTS
from thenga.kernel.http import limits
from thenga.kernel.process.settings import Settings
from thenga.kernel.standing.answered import kernel_ports

TIMES = 20

topology.load(topology.DOMAINS)
_OF_KERNEL = {port for name in topology.DOMAINS for port in kernel_ports(name)}
_OURS = {port for port in PORTS.values() if port.__module__.startswith("thenga.")}
_DECLARED = {port: port.port_timeout for port in _OURS | _OF_KERNEL}
_OF_REDIS = limits._PATIENCE
_SETTINGS = ("pool_wait_seconds", "request_seconds", "statement_seconds")


def wait_long() -> None:
    _wait(TIMES)


def wait_as_declared() -> None:
    _wait(1)


def _wait(times: int) -> None:
    for port, seconds in _DECLARED.items():
        port.port_timeout = seconds * times
    limits._PATIENCE = _OF_REDIS * times**2  # a Redis that is away refuses at once
    for name in _SETTINGS:
        os.environ[f"THENGA_{name.upper()}"] = str(Settings.model_fields[name].default * times)
