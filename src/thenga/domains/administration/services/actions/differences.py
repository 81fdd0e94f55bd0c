"""What an action changed, made from two views: no secret and no long text is repeated (ADM-3)."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import rfc8785
from pydantic import JsonValue

MOST_BYTES = 32 * 1024
_MOST_TEXT = 500


@dataclass(frozen=True, slots=True)
class Differences:
    """The changes of an action; if they are too many, the first of them and a hash of all."""

    changes: list[dict[str, JsonValue]]
    truncated: bool
    digest: str


def differences(
    before: Mapping[str, JsonValue],
    after: Mapping[str, JsonValue],
    *,
    sealed: Mapping[str, str] | None = None,
) -> Differences:
    """Objects by key, lists as a whole; `sealed` gives the fingerprint of a sealed value."""
    found = [
        {"pointer": pointer, "before": _told(a), "after": _told(b)}
        for pointer, a, b in _changed("", before, after)
    ]
    found += [
        {"pointer": pointer, "before": None, "after": {"sealed": mark}}
        for pointer, mark in sorted((sealed or {}).items())
    ]
    whole = rfc8785.dumps(found)
    kept, size = [], 2
    for one in found:
        size += len(rfc8785.dumps(one)) + 1
        if size > MOST_BYTES:
            break
        kept.append(one)
    return Differences(kept, len(kept) < len(found), hashlib.sha256(whole).hexdigest())


def _changed(
    pointer: str,
    before: JsonValue | Mapping[str, JsonValue],
    after: JsonValue | Mapping[str, JsonValue],
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted(before.keys() | after.keys()):
            step = name.replace("~", "~0").replace("/", "~1")
            yield from _changed(f"{pointer}/{step}", before.get(name), after.get(name))
    elif before != after:
        yield pointer, _plain(before), _plain(after)


def _plain(value: JsonValue | Mapping[str, JsonValue]) -> JsonValue:
    return dict(value) if isinstance(value, Mapping) else value


def _told(value: JsonValue) -> JsonValue:
    if isinstance(value, str) and len(value) > _MOST_TEXT:
        return {"sha256": hashlib.sha256(value.encode()).hexdigest(), "length": len(value)}
    return value
