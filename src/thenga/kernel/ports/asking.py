"""Asking a port whose silence has a meaning."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from thenga.kernel.declare.port import Port
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.ports.binding import Unbound, within

if TYPE_CHECKING:
    from thenga.kernel.db.reader import Reader
    from thenga.kernel.jobs.run import Run

P = TypeVar("P", bound=Port)
T = TypeVar("T")
S = TypeVar("S")


async def asking(
    read: "Reader | Run", port: type[P], call: Callable[[P], Awaitable[T]], *, silent: S
) -> T | S:
    """What a port answers, or `silent`: nobody answers it here, in time, or at the moment.

    A refusal or a defect of whoever answers is raised as it is.
    """
    try:
        asked = read.port(port)
    except Unbound:
        return silent
    try:
        return await within(port.port_timeout, port.port_name, call(asked))
    except DependencyUnavailable:
        return silent
