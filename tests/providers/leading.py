"""Names and connections that end at a site on loopback, in this process or in another.

Another process does it in its `sitecustomize`, before its program begins.
"""

import json
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from thenga.kernel.outside import outbound

_FILE = "leading.json"


class Lead(NamedTuple):
    """Whose names lead where: to the site, and whatever else is called over TLS to the wire."""

    names: Sequence[str]  # these and what is below them
    address: str  # the public one that their look-up gives
    site: int
    wire: int
    certificate: str

    def is_known(self, name: str) -> bool:
        return any(name == each or name.endswith(f".{each}") for each in self.names)

    def through(self, look: Any, connect: Any) -> tuple[Any, Any]:
        """`getaddrinfo` and `create_connection` of a loop, led there."""

        async def getaddrinfo(host: Any, port: Any, **more: Any) -> Any:
            text = host.decode() if isinstance(host, bytes) else str(host)
            if self.is_known(text):
                return await look(self.address, port, type=socket.SOCK_STREAM)
            return await look(host, port, **more)

        async def create_connection(
            factory: Any, host: Any = None, port: Any = None, **more: Any
        ) -> Any:
            if str(host) == self.address:
                host, port = "127.0.0.1", self.site
            elif port == 443:
                host, port = "127.0.0.1", self.wire
            return await connect(factory, host, port, **more)

        return getaddrinfo, create_connection

    def for_a_process(self, folder: Path) -> str:
        """A folder for its PYTHONPATH, by which it is led from its start."""
        (folder / _FILE).write_text(json.dumps(self._asdict()))
        lines = f"from tests.providers import leading\nleading.lead_this_process({str(folder)!r})\n"
        (folder / "sitecustomize.py").write_text(lines)
        return str(folder)


def lead_this_process(folder: str) -> None:
    """Lead every loop that this process will make."""
    lead = Lead(**json.loads((Path(folder) / _FILE).read_text()))
    trusting = ssl.create_default_context(cafile=lead.certificate)
    outbound.tls = lambda **_: trusting  # type: ignore[assignment]

    class Led(uvloop.Loop):
        def __init__(self) -> None:
            super().__init__()
            self.getaddrinfo, self.create_connection = lead.through(
                super().getaddrinfo, super().create_connection
            )

    uvloop.Loop = Led  # type: ignore[misc]
