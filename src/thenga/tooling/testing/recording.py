"""Records the first good exchange of each operation as its example (`THENGA_RECORD=1`).

What differs from run to run (identifiers, tokens, secrets) becomes a stable sample, and every
test begins at the same moment, so a second recording changes no file and a month is a month long.
Recorded without xdist, since the first exchange counts.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx2

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.document import examples
from thenga.kernel.http.document.examples import Example
from thenga.kernel.http.document.operations import ByPath, operations
from thenga.kernel.process.logs import names_a_secret
from thenga.kernel.values.clock import SystemClock

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)")
_TOKEN = re.compile(r"\b(th[a-z]_)[A-Za-z0-9_\-.]{8,}")
_HEX = re.compile(r"\b[0-9a-f]{32,}\b")
# What a test puts into a name to make it unique. `Crane 69757479ed34` becomes `Crane`, and
# `SCM 69757479ed34/2026` becomes `SCM 17/2026`.
_UNIQUE = r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])(?:[0-9a-f]{8}|[0-9a-f]{10}|[0-9a-f]{12})"
_MARK = re.compile(rf"(?<![0-9a-f]-)(?<![0-9A-Za-z]){_UNIQUE}(?![0-9A-Za-z-])")
_LAST_MARK = re.compile(
    rf"(?<=\S) (?:{_UNIQUE}|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{{6}})(?=\.?$)"
)
_REFERENCE = re.compile(r"\b(?=[A-Z0-9]*[0-9])[A-Z0-9]{16}\b")  # of a payment, as providers show it
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")

_SAMPLE_TOKEN = r"\1" + "sample" * 4  # as long as a true one is at least
_BEGINNING = datetime(2026, 11, 14, 8, 30, tzinfo=UTC)
_SAMPLES = {"password": "a long sample passphrase", "cursor": "sample-cursor"}
_ALSO_SECRET = ("cursor", "recoverycodes", "otpauth", "signature")
_ROWS = 3  # of a list; more explain nothing
_PLAIN_ENDINGS = ("Type", "Status", "Count", "Hint")


class Recorder:
    """Gathers exchanges of one test run; `write` puts them beside the domains' code."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        self._operations = operations(domains)
        self._by_path = ByPath(self._operations)
        self._found: dict[str, Example] = {}

    def begin(self) -> None:
        """Set the clock of this process to the moment at which every recorded test begins."""
        begun = datetime.now(UTC)

        def now(self: SystemClock) -> datetime:
            return _BEGINNING + (datetime.now(UTC) - begun)

        # Hosts make their clocks themselves, before a test could hand them another one.
        SystemClock.now = now  # type: ignore[method-assign]  # for the whole process

    async def noting(self, response: httpx2.Response) -> None:
        """The response hook of a test client: `event_hooks={"response": [recorder.noting]}`."""
        await response.aread()
        request = response.request
        self.note(request.method, request.url.path, request.content, response)

    def note(self, method: str, path: str, sent: bytes, response: httpx2.Response) -> None:
        """Keep an exchange if it went well and tells more than what is kept already."""
        one = self._by_path.find(method, path)
        if one is None or not 200 <= response.status_code < 300:
            return
        kept = self._found.get(one.name)
        if kept is not None and not _says_little(kept):
            return
        exchange = Example(
            request=_read(sent), status=response.status_code, response=_read(response.content)
        )
        self._found[one.name] = stable(exchange)

    def write(self) -> list[str]:
        """Write what was seen; an operation that no test called keeps the example it has."""
        by_domain: dict[str, tuple[Domain, list[str]]] = {}
        for one in self._operations:
            by_domain.setdefault(one.domain.name, (one.domain, []))[1].append(one.name)
        for domain, names in by_domain.values():
            known = examples.load(domain) | self._found
            kept = {name: known[name] for name in names if name in known}
            if kept:
                examples.save(domain, kept)
        return sorted(self._found)


def recorder(domains: Sequence[Domain]) -> Recorder | None:
    """The recorder of this run, if it is to record."""
    return Recorder(domains) if os.environ.get("THENGA_RECORD") == "1" else None


def stable(exchange: Example) -> Example:
    """The exchange with samples in place of all that another run would make anew."""
    samples = _Samples()
    return Example(
        request=_replaced(exchange["request"], samples),
        status=exchange["status"],
        response=_replaced(exchange["response"], samples),
    )


class _Samples:
    """The same value gets the same sample, so an answer still refers to what was asked."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}

    def of(self, kind: str, value: str, make: Callable[[int], str]) -> str:
        known = self._given.get((kind, value))
        if known is None:
            number = 1 + sum(1 for other, _ in self._given if other == kind)
            known = self._given[kind, value] = make(number)
        return known

    def in_text(self, text: str) -> str:
        text = _UUID.sub(lambda m: self.of("id", m[0].lower(), _sample_id), text)
        text = _INSTANT.sub(_whole_minute, text)
        text = _TOKEN.sub(_SAMPLE_TOKEN, text)
        text = _HEX.sub(_sample_hex, text)
        text = _LAST_MARK.sub("", text)
        text = _MARK.sub(lambda m: self.of("mark", m[0], _sample_mark), text)
        text = _REFERENCE.sub(lambda m: self.of("reference", m[0], _sample_reference), text)
        return _EMAIL.sub(lambda m: self.of("email", m[0].lower(), _sample_email), text)


def _whole_minute(found: re.Match[str]) -> str:
    """How many seconds a test had run is no part of its example."""
    moment = datetime.fromisoformat(found[0]).astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:00Z")


def _sample_id(number: int) -> str:
    return f"019a0000-0000-7000-8000-{number:012x}"


def _sample_mark(number: int) -> str:
    return str(16 + number)


def _sample_reference(number: int) -> str:
    return f"REFERENCE{number:07d}"


def _sample_hex(found: re.Match[str]) -> str:
    return ("0123456789abcdef" * len(found[0]))[: len(found[0])]


def _sample_email(number: int) -> str:
    return f"person{number}@example.com"


def _replaced(value: Any, samples: _Samples, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _replaced(inner, samples, name) for name, inner in value.items()}
    if isinstance(value, list):
        rows = value[:_ROWS] if key == "items" else value
        return [_replaced(inner, samples, key) for inner in rows]
    if not isinstance(value, str):
        return value
    if _hides(key) and not (_UUID.fullmatch(value) or _INSTANT.fullmatch(value)):
        return _secret(key.lower(), value)
    return samples.in_text(value)


def _hides(key: str) -> bool:
    if key.endswith(_PLAIN_ENDINGS):
        return False  # `tokenType` tells nothing
    return names_a_secret(key) or any(word in key.lower() for word in _ALSO_SECRET)


def _secret(key: str, value: str) -> str:
    if _TOKEN.fullmatch(value):
        return _TOKEN.sub(_SAMPLE_TOKEN, value)
    return next((sample for word, sample in _SAMPLES.items() if word in key), "sample")


def _says_little(example: Example) -> bool:
    return isinstance(example["response"], dict) and example["response"].get("items") == []


def _read(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None  # an upload or a download has no example
