"""The recorded examples of the API document read as if a customer had sent them."""

import re
from collections.abc import Iterator
from typing import Any

from thenga import topology
from thenga.kernel.http.document import examples
from thenga.tooling.testing.recording import stable

# A counted name (`Crane 1001`), a mark (`Crane 69757479ed34`), a word that only a test would use.
_DEBRIS = re.compile(
    r"[a-z)] 10\d\d\b|\b[a-z]+-10\d\d\b"
    r"|(?<![0-9A-Za-z-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{10,12}(?![0-9A-Za-z-])"
    r"|(?i:\b(?:ticket|renamed|founded|traded as)\b)"
)
_ROWS = 3


def texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


def test_examples_show_no_test_debris() -> None:
    found = [
        f"{domain.name}.{name}: {text}"
        for domain in topology.load(topology.DOMAINS)
        for name, example in examples.load(domain).items()
        for text in texts([example["request"], example["response"]])
        if _DEBRIS.search(text)
    ]

    assert found == []


def test_examples_list_a_few_rows() -> None:
    long = [
        f"{domain.name}.{name}"
        for domain in topology.load(topology.DOMAINS)
        for name, example in examples.load(domain).items()
        if isinstance(example["response"], dict)
        and len(example["response"].get("items") or []) > _ROWS
    ]

    assert long == []


def test_the_recorder_removes_what_makes_a_name_unique() -> None:
    sent = {"name": "Crane 69757479ed34", "number": "SCM 3ac1b3aaa6f3/2026", "note": "Why ab12cd."}
    rows = [{"name": f"relay-{number}a9757479e"} for number in range(5)]

    recorded = stable({"request": sent, "status": 200, "response": {"items": rows}})

    assert recorded["request"] == {"name": "Crane", "number": "SCM 17/2026", "note": "Why."}
    assert recorded["response"]["items"] == [{"name": f"relay-{n}"} for n in (18, 19, 20)]
    assert _DEBRIS.search("Crane 69757479ed34") and _DEBRIS.search("Asked for in ticket 17")
