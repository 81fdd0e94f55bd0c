"""Cuts an OCDS release package into its releases. Only isolated children import this.

Each release keeps the bytes that the publisher sent, because those are what is stored.
"""

import json
import re
from typing import Any

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def read_package(content: bytes, options: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """The releases one after another, their `sizes`, and `has_next`; `trouble` says why not."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return b"", {"trouble": "not_json"}
    if not text.lstrip().startswith("{"):
        return b"", {"trouble": "not_json"}
    try:
        parts = _members(text)
    except (ValueError, RecursionError):
        return b"", {"trouble": "not_json"}
    if not isinstance(parts.get("releases"), list):
        return b"", {"trouble": "shape_changed"}
    raw = [piece.encode() for piece in parts["releases"]]
    if any(_depth(json.loads(piece)) > options["most_depth"] for piece in raw):
        return b"", {"trouble": "shape_changed"}
    links = parts.get("links")
    has_next = isinstance(links, dict) and bool(links.get("next"))
    sizes = [len(piece) for piece in raw]
    return b"".join(raw), {"trouble": None, "sizes": sizes, "has_next": has_next}


def _members(text: str) -> dict[str, Any]:
    """The members of the outermost object; `releases` as the texts of its elements."""
    found: dict[str, Any] = {}
    at = _skip(text, 0) + 1
    while text[(at := _skip(text, at))] != "}":
        if text[at] == ",":
            at = _skip(text, at + 1)
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] != ":":
            raise ValueError("no member")
        at = _skip(text, at + 1)
        if name == "releases" and text[at] == "[":
            found[name], at = _elements(text, at)
        else:
            found[name], at = _DECODER.raw_decode(text, at)
    return found


def _elements(text: str, at: int) -> tuple[list[str], int]:
    found = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        found.append(text[at:end])
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found, at + 1


def _skip(text: str, at: int) -> int:
    matched = _BLANK.match(text, at)
    end = matched.end() if matched else at
    if end >= len(text):
        raise ValueError("unfinished")
    return end


def _depth(value: Any) -> int:
    """How deep a value is nested, without following it into the ground."""
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            child
            for outer in level
            if isinstance(outer, dict | list)
            for child in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return depth
