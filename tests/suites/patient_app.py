"""An api process that waits long for Redis, so that a busy machine does not make it count alone."""

from fastapi import FastAPI

from thenga import main
from thenga.kernel.http import limits

_SECONDS = 10.0


def app() -> FastAPI:
    limits._PATIENCE = _SECONDS
    return main.app()
