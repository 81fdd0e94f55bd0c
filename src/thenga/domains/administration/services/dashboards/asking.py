"""Asking every domain at once; one that is silent or fails costs the others nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from thenga.kernel.declare.port import Port
from thenga.kernel.ports.binding import within
from thenga.kernel.process.host import Host

T = TypeVar("T")
A = TypeVar("A")

log = structlog.get_logger()


async def ask_all(
    host: Host, shape: type[T], ask: Callable[[T], Awaitable[A]]
) -> dict[str, A | None]:
    """The answer of each domain that has such a port, by its name; None where it is silent."""
    bound = [one for one in host.bindings.every(shape) if isinstance(one, Port)]
    names = [one.port_name.split(".")[0] for one in bound]
    answers = await asyncio.gather(*(_answer(one, ask) for one in bound))
    return dict(zip(names, answers, strict=True))


async def _answer(port: Port, ask: Callable[[T], Awaitable[A]]) -> A | None:
    asked: T = port  # type: ignore[assignment]  # `every` chose it by this shape
    try:
        return await within(port.port_timeout, port.port_name, ask(asked))
    except Exception as error:  # noqa: BLE001  # whatever fails there is silence here
        log.warning("administration.port.silent", port=port.port_name, error=type(error).__name__)
        return None
