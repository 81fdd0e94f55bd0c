"""Requests that were drawn from the API document once and are sent again in every `make check`.

Drawing them takes longer than all that the application does with them. A case belongs to its
operation as it was described then: where the description has changed since, the walk draws anew
until `make corpus` has stored what fits. `make prove` always draws.
"""

import base64
import gzip
import hashlib
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core import NOT_SET
from schemathesis.core.result import Ok
from schemathesis.generation.meta import CaseMetadata

from tests.documented import names_by_id, whole_document
from tests.suites import formats
from thenga import topology
from thenga.kernel.http.document.operations import operations

FOLDER = Path(__file__).parent / "corpus"
EXAMPLES = 20  # of an operation
ORGANIZATION = "X-Organization-Id"
_SAMPLE = "019a0000-0000-7000-8000-000000000001"  # in the place of what exists when it is sent
_BYTES = "$bytes"
_WORDS = ("description", "summary", "title", "example", "examples", "tags")


class Way(NamedTuple):
    """Valid or not, and on what exists or on anything."""

    mode: GenerationMode
    existing: bool

    def __str__(self) -> str:
        return f"{self.mode.value}{' existing' if self.existing else ''}"


WAYS = [
    Way(mode, existing)
    for mode, existing in itertools.product(
        (GenerationMode.POSITIVE, GenerationMode.NEGATIVE), (True, False)
    )
]
formats.register()
TRUE_WAY = Way(GenerationMode.POSITIVE, existing=True)


def described(schema: Any, only: Callable[[str], bool] = lambda _: True) -> Iterator[Any]:
    """The operations of a document, as Schemathesis has them."""
    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        if only(name_of(operation)):
            yield operation


def name_of(operation: Any) -> str:
    """The name of an operation's function, which suites know it by."""
    return names_by_id()[operation.definition.raw["operationId"]]


def drawn(operation: Any, way: Way, count: int) -> list[Any]:
    """So many cases of one operation, by chance that is the same every time."""
    fixed = {one.name: _SAMPLE for one in operation.path_parameters} if way.existing else {}
    strategy = operation.as_strategy(
        generation_mode=way.mode,
        path_parameters=fixed or None,
        headers={ORGANIZATION: _SAMPLE} if way.existing else None,
    )
    found: list[Any] = []

    @seed(len(operation.label) + way.mode.is_positive * 100 + way.existing * 1000)
    @settings(
        max_examples=max(1, count),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def draw(case: Any) -> None:
        found.append(case)

    with suppress(Unsatisfiable):  # nothing about this operation can be made wrong in this way
        draw()
    return found


class Corpus:
    """What is stored."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._stored: dict[str, Any] = {}
        for path in sorted(folder.glob("*.json.gz")):
            text = gzip.decompress(path.read_bytes())
            self._stored |= json.loads(text, object_hook=_with_bytes)

    def cases(self, operation: Any) -> dict[Way, list[Any]] | None:
        """The cases of an operation; nothing where it is described otherwise by now."""
        stored = self._stored.get(name_of(operation))
        if stored is None or stored["described"] != fingerprint(operation):
            return None
        return {way: [_read(operation, one) for one in stored[str(way)]] for way in WAYS}


def fingerprint(operation: Any) -> str:
    """Of all that the cases of an operation hang on, but no words and no answers."""
    components = operation.schema.raw_schema["components"]
    sent = {key: operation.definition.raw.get(key) for key in ("parameters", "requestBody")}
    parts: dict[str, Any] = {"": _plain(sent)}
    waiting = [parts[""]]
    while waiting:
        for name in _named(waiting.pop()):
            if name not in parts:
                kind, _, named = name.partition("/")
                parts[name] = _plain(components[kind][named])
                waiting.append(parts[name])
    text = json.dumps([operation.label, sorted(parts.items())], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(part: Any) -> Any:
    if isinstance(part, dict):
        return {
            key: _plain(inner)
            for key, inner in part.items()
            if key not in _WORDS or (isinstance(inner, dict) and key != "examples")
        }
    return [_plain(inner) for inner in part] if isinstance(part, list) else part


def _named(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        reference = part.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix("#/components/")
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _named(inner)


def _written(case: Any) -> dict[str, Any]:
    kept = {
        "path_parameters": case.path_parameters,
        "query": case.query,
        "headers": dict(case.headers),
        "cookies": case.cookies,
        "media_type": case.media_type,
        "meta": case.meta.to_dict()
        | {"generation": {"time": 0, "mode": case.meta.generation.mode}},
    }
    kept["meta"]["generation"]["time"] = 0  # what differs from run to run is not kept
    if case.body is not NOT_SET:
        kept["body"] = case.body
    return kept


def _read(operation: Any, stored: dict[str, Any]) -> Any:
    given = {key: value for key, value in stored.items() if key != "meta"}
    return operation.Case(**given, _meta=CaseMetadata.from_dict(stored["meta"]))


def _as_text(value: Any) -> dict[str, str]:
    assert isinstance(value, bytes), type(value)
    return {_BYTES: base64.b64encode(value).decode()}


def _with_bytes(part: dict[str, Any]) -> Any:
    return base64.b64decode(part[_BYTES]) if part.keys() == {_BYTES} else part


def write(folder: Path = FOLDER, only: Callable[[str], bool] = lambda _: True) -> None:
    """Draw for every operation whose stored cases do not fit, and store what was drawn."""
    schema = schemathesis.openapi.from_dict(whole_document())
    domain_of = {one.name: one.domain.name for one in operations(topology.load(topology.DOMAINS))}
    known = Corpus(folder)
    stored: dict[str, dict[str, Any]] = {name: {} for name in topology.DOMAINS}
    for operation in described(schema, only):
        name = name_of(operation)
        mark, kept = fingerprint(operation), known._stored.get(name)
        if kept is None or kept["described"] != mark:
            drawn_ = {
                str(w): [_written(c) for c in drawn(operation, w, EXAMPLES // 4)] for w in WAYS
            }
            kept = {"described": mark} | drawn_
            print(f"drawn {name}", flush=True)
        stored[domain_of[name]][name] = kept
    folder.mkdir(exist_ok=True)
    for domain, cases in stored.items():
        text = json.dumps(cases, default=_as_text, separators=(",", ":")).encode()
        (folder / f"{domain}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    sys.exit(write())
