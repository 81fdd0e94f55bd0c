"""The interface of message providers, and how their callbacks are verified."""

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from thenga.domains.notification.values.messages import Answer, Message, Report
from thenga.kernel.errors import Problem
from thenga.kernel.http.json_guard import read_json

TOLERANCE = timedelta(seconds=300)  # if the scheme signs a time
_MOST_TEXT = 500
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Unreadable(Exception):
    """A signed callback that names no message."""


class NotConfigured(Exception):
    """A channel without the settings that it needs."""


@dataclass(frozen=True, slots=True)
class Call:
    """A callback as received: raw bytes, all headers, and our own address of it."""

    raw: bytes
    headers: Sequence[tuple[str, str]]
    url: str
    now: datetime

    def header(self, name: str) -> str | None:
        """A header by name. None if it is missing, repeated or not plain text."""
        found = [value for key, value in self.headers if key.lower() == name]
        return found[0] if len(found) == 1 and found[0].isascii() else None


class Sender(Protocol):
    """Sends one message. It never retries and never raises for what a provider does."""

    async def send(self, message: Message) -> Answer: ...


class Reporter(Protocol):
    """Reads callbacks. `verify` returns the key of a genuine one, None for any other."""

    def verify(self, call: Call, keys: Sequence[str]) -> str | None: ...

    def report(self, content: bytes) -> Report: ...


def is_signed(keys: Sequence[str], expected: Mapping[str, bytes], given: bytes) -> bool:
    """Whether one of the keys made the signature. All are compared in constant time."""
    matches = [hmac.compare_digest(expected[key], given) for key in keys]
    return any(matches)


def read_object(raw: bytes) -> dict[str, Any]:
    """The JSON object of some bytes. Empty if they are something else."""
    try:
        found = read_json(raw)
    except Problem:
        return {}
    return found if isinstance(found, dict) else {}


def part(found: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """A nested object. Empty if it is missing."""
    inner: Any = found
    for name in path:
        inner = inner.get(name) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else {}


def text(found: Mapping[str, Any], name: str) -> str | None:
    """A text or number as text. None if it is neither, or cannot be stored."""
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    shown = str(value)
    return None if "\0" in shown else shown[:200] or None


def scrubbed(said: str, address: str) -> str:
    """A provider's words without the recipient's address."""
    plain = _UNPRINTABLE.sub(" ", said).strip()
    return re.sub(re.escape(address), "•••", plain, flags=re.IGNORECASE)[:_MOST_TEXT]
