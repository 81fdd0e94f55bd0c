"""Serving: uvicorn, and how a process leaves."""

import asyncio
import signal
import socket
from types import FrameType
from typing import Any

import structlog
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from thenga.kernel.http.app import Application
from thenga.kernel.process.settings import Settings

NOTICE_SECONDS = 2.0
log = structlog.get_logger()


class Connection(HttpToolsProtocol):
    """uvicorn's own, except that a trailer after a body never becomes a header (SEC-61)."""

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.headers = []  # the parser adds trailers here; the request has the list before it


class Leaving(uvicorn.Server):
    """On SIGTERM: not ready at once, two seconds for the balancer to notice, then no new calls.

    Serves the internal listener, too, where the settings name one.
    """

    _asked = False

    def __init__(self, config: uvicorn.Config, settings: Settings) -> None:
        super().__init__(config)
        self._settings = settings

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        here = f"http://{self.config.host}:{self.config.port}"
        app: Any = self.config.loaded_app
        log.info(
            "api.process.started",
            listening=here,
            docs=f"{here}/docs",
            domains=[domain.name for domain in app.state.domains],
        )
        host, _, port = self._settings.internal_listen.rpartition(":")
        if not port:
            return
        inside = _config(app.state.internal, self._settings)
        inside.load()
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(inside, self.server_state, self.lifespan.state),
            host=host.strip("[]"),
            port=int(port),
            backlog=inside.backlog,
        )
        self.servers.append(server)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._asked or sig == signal.SIGINT:
            super().handle_exit(sig, frame)  # asked twice, or by a person at the keyboard: now
            return
        self._asked = True
        app: Any = self.config.loaded_app
        app.state.shared.bounds.draining = True
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(loop.call_later, NOTICE_SECONDS, super().handle_exit, sig, frame)


def serve(app: Application, settings: Settings, *, host: str, port: int) -> None:
    """Run an application in this process until it is asked to leave; one process uses one core.

    More cores take more processes, each on a port of its own behind the balancer, so that each
    can leave by itself.
    """
    Leaving(_config(app, settings, host=host, port=port), settings).run()


def _config(app: Any, settings: Settings, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=Connection,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # whose word is taken on addresses is our own setting
        timeout_graceful_shutdown=int(settings.drain_seconds),
        **more,
    )
