"""Serving: uvicorn, and how a process leaves."""

import asyncio
import signal
import socket
from types import FrameType
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI

from thenga.kernel.http.protocol import Listener, listener
from thenga.kernel.settings import Settings

NOTICE_SECONDS = 2.0
log = structlog.get_logger()

_OWN_PROCESSES = 8  # that may ask from one address, with as many connections as a customer


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
        most = self._settings.connections_per_address * _OWN_PROCESSES
        inside = _config(app.state.internal, listener(self._settings, most=most), self._settings)
        inside.load()
        protocol = inside.http_protocol_class
        server = await asyncio.get_running_loop().create_server(
            lambda: protocol(inside, self.server_state, self.lifespan.state),  # type: ignore[call-arg]
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


def serve(app: FastAPI, settings: Settings, *, host: str, port: int) -> None:
    """Run an application in this process until it is asked to leave; one process uses one core.

    More cores take more processes, each on a port of its own behind the balancer, so that each
    can leave by itself.
    """
    protocol = listener(settings, most=settings.connections_per_address)
    config = _config(app, protocol, settings, host=host, port=port)
    Leaving(config, settings).run()


def _config(app: Any, protocol: type[Listener], settings: Settings, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=protocol,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # whose word is taken on addresses is our own setting
        timeout_graceful_shutdown=int(settings.drain_seconds),
        **more,
    )
