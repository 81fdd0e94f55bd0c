"""Time-outs in tests: twenty times as long, so that a busy machine is not taken for silence.

A port that answers late, or a Redis that does, makes the product decide without it. That is right
in production and a failure by chance in a test, unless the time-out is what the test is about:
such a test is marked `real_timeouts`.
"""

from thenga import topology
from thenga.kernel.answered import kernel_ports
from thenga.kernel.declare.port import PORTS
from thenga.kernel.http import limits

TIMES = 20

topology.load(topology.DOMAINS)
_OF_KERNEL = {port for name in topology.DOMAINS for port in kernel_ports(name)}
_OURS = {port for port in PORTS.values() if port.__module__.startswith("thenga.")}
_DECLARED = {port: port.port_timeout for port in _OURS | _OF_KERNEL}
_OF_REDIS = limits._PATIENCE


def wait_long() -> None:
    _wait(TIMES)


def wait_as_declared() -> None:
    _wait(1)


def _wait(times: int) -> None:
    for port, seconds in _DECLARED.items():
        port.port_timeout = seconds * times
    limits._PATIENCE = _OF_REDIS * times
