"""The terms of a tender, read from its active requirements."""

from collections.abc import Sequence
from typing import Any


def terms_of(criteria: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Validity, preference, functionality, submission and forms; of two the last one counts."""
    found: dict[str, Any] = {
        "validityDays": None,
        "preference": None,
        "functionality": None,
        "submission": None,
        "forms": [],
    }
    for criterion in criteria:
        plain = {name: value for name, value in criterion.items() if name != "kind"}
        match criterion["kind"]:
            case "validity":
                found["validityDays"] = criterion["days"]
            case "preference" | "functionality" | "submission" as kind:
                found[kind] = plain
            case "sbd_form":
                found["forms"].append(plain)
    return found
