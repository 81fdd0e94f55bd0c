"""Logs: one JSON object a line on standard output, without secrets."""

import logging
import sys
import traceback
from contextvars import ContextVar
from functools import lru_cache
from typing import BinaryIO

import orjson
import structlog
from pydantic import ValidationError
from structlog.typing import EventDict, Processor, WrappedLogger

from thenga.kernel.values.clock import SystemClock

_SECRETS = ("password", "token", "secret", "authorization", "plaintext", "cookie")
_NESTED = frozenset({dict, list, tuple})

# Set at the edge of a request, a job or a reaction, so that every line says what it belongs to.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)

_clock = SystemClock()


@lru_cache(maxsize=4096)
def names_a_secret(key: str) -> bool:
    lowered = key.lower()
    return any(word in lowered for word in _SECRETS)


def drop_secrets(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """The last guard, not the rule: a secret is not handed to a log at all."""
    return {
        key: _without_secrets(value) if type(value) in _NESTED else value
        for key, value in event.items()
        if not names_a_secret(key)
    }


def _without_secrets(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _without_secrets(inner)
            for key, inner in value.items()
            if not names_a_secret(str(key))
        }
    if isinstance(value, (list, tuple)):
        return [_without_secrets(inner) for inner in value]
    return value


def add_context(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """When it was, how grave it is, and which request it belongs to."""
    event["at"] = _clock.now()
    event["level"] = "error" if method == "exception" else method
    if (current := request_id.get()) is not None:
        event["request_id"] = current
    if (parent := traceparent.get()) is not None:
        event["traceparent"] = parent
    return event


def tell_error(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Where it happened and what it was, without the values that it happened to."""
    info = event.pop("exc_info", None)
    error = sys.exc_info()[1] if info is True else info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        event["error"] = _chain_of(error)
    return event


def _chain_of(error: BaseException) -> str:
    told: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        frames = "".join(traceback.format_tb(current.__traceback__))
        told.append(f"{frames}{type(current).__qualname__}: {_message_of(current)}")
        hidden = None if current.__suppress_context__ else current.__context__
        current = current.__cause__ or hidden
    return "\nwhich came from\n".join(told)


def _message_of(error: BaseException) -> str:
    """Messages of a database, and of pydantic, repeat rows and input: say which rule broke only."""
    if isinstance(error, ValidationError):
        return str([(fault["loc"], fault["type"]) for fault in error.errors(include_input=False)])
    cause = getattr(error, "orig", None) or error
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        place = getattr(cause, "constraint_name", None) or getattr(cause, "table_name", None)
        return f"sqlstate {state} {place or ''}".rstrip()
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_chain_of(inner) for inner in error.exceptions)
    return str(cause)[:500]


def _json(logger: WrappedLogger, method: str, event: EventDict) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS)


def configure(json: bool, *, stream: BinaryIO | None = None) -> None:
    """Once at start, before the application is made; `stream` is for tests."""
    out = stream or sys.stdout.buffer
    renderer: Processor = _json
    if not json:
        # Plain: the usual one shows the locals of every frame, keys and passwords among them.
        plain = structlog.dev.plain_traceback
        console = structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=plain)
        renderer = _as_bytes(console)
    structlog.configure(
        processors=[add_context, drop_secrets, tell_error, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(out),
        cache_logger_on_first_use=True,
    )
    _adopt_standard_logging()


def _as_bytes(renderer: Processor) -> Processor:
    def render(logger: WrappedLogger, method: str, event: EventDict) -> bytes:
        event["timestamp"] = event.pop("at").strftime("%H:%M:%S.%f")
        return str(renderer(logger, method, event)).encode()

    return render


class _ToStructlog(logging.Handler):
    """Lines of libraries take the same form, through the same guard."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "critical" if record.levelno >= logging.CRITICAL else record.levelname.lower()
        say = getattr(structlog.get_logger(), level, structlog.get_logger().info)
        say(
            "library.logged", logger=record.name, text=record.getMessage(), exc_info=record.exc_info
        )


def _adopt_standard_logging() -> None:
    root = logging.getLogger()
    root.handlers = [_ToStructlog()]
    root.setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.propagate = True
    # The edge writes one line a request itself; this one would add the query.
    logging.getLogger("uvicorn.access").disabled = True
