"""Serving: uvicorn, and how a process leaves (security rule 50)."""

import asyncio
import signal
from types import FrameType
from typing import Any

import uvicorn

from thenga.kernel.settings import Settings

NOTICE_SECONDS = 2.0


class Leaving(uvicorn.Server):
    """On SIGTERM: not ready at once, two seconds for the balancer to notice, then no new calls."""

    _asked = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._asked or sig == signal.SIGINT:
            super().handle_exit(sig, frame)  # asked twice, or by a person at the keyboard: now
            return
        self._asked = True
        app: Any = self.config.loaded_app
        app.state.shared.bounds.draining = True
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(loop.call_later, NOTICE_SECONDS, super().handle_exit, sig, frame)


def serve(settings: Settings, *, host: str, port: int) -> None:
    """Run the application in this process until it is asked to leave; one process uses one core.

    More cores take more processes, each on a port of its own behind the balancer, so that each
    can leave by itself.
    """
    config = uvicorn.Config(
        "thenga.main:app",
        factory=True,
        host=host,
        port=port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # whose word is taken on addresses is our own setting
        timeout_graceful_shutdown=int(settings.drain_seconds),
    )
    Leaving(config).run()
