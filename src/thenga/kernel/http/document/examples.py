"""Recorded exchanges of a domain: examples that tests have seen, so they cannot rot."""

import json
from typing import Any

from typing_extensions import TypedDict

from thenga.kernel.declare.manifest import Domain


class Example(TypedDict):
    """One exchange; `request` and `response` are null where there was no body."""

    request: Any
    status: int
    response: Any


def load(domain: Domain) -> dict[str, Example]:
    """The examples of a domain by operation id; none where nothing was recorded yet."""
    path = domain.home / "content" / "examples.json"
    if not path.exists():
        return {}
    found: dict[str, Example] = json.loads(path.read_text())
    return found


def save(domain: Domain, examples: dict[str, Example]) -> None:
    path = domain.home / "content" / "examples.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(examples, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
