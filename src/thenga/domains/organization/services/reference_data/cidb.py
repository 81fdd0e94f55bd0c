"""Gradings of the Construction Industry Development Board (ORG-20).

Pure functions; the limits of each time stand in `content/cidb_limits.json`.
"""

import json
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from thenga.kernel.errors import ERRORS, Problem, extensions
from thenga.kernel.values.money import Money

_FILE = Path(__file__).parents[2] / "content" / "cidb_limits.json"
_DESIGNATION = re.compile(r"([1-9])(GB|CE|ME|EP|EB|S[BCDEFGHIJKLMNOQ])(\s?PE)?")


class CidbInvalid(Problem):
    """A CIDB designation consists of a grade from 1 to 9 and a class of works, for example `5GB`.

    Add `PE` if the contractor is potentially emerging. Copy it from the CIDB register.
    """

    code, status, title = "organization-cidb-invalid", 422, "This is not a CIDB designation"
    members = extensions(errors=ERRORS)


@dataclass(frozen=True)
class Designation:
    """A grade in a class of works."""

    grade: int
    works: str
    emerging: bool

    def __str__(self) -> str:
        return f"{self.grade}{self.works}{' PE' if self.emerging else ''}"


def parse_cidb(text: str) -> Designation:
    """The designation that a text writes."""
    found = _DESIGNATION.fullmatch(text.strip().upper())
    if found is None:
        raise CidbInvalid(
            errors=[
                {
                    "pointer": "/cidb/designation",
                    "code": "cidb_designation",
                    "detail": "Write it as in the CIDB register, for example 5GB or 6CE PE.",
                }
            ]
        )
    return Designation(int(found[1]), found[2], found[3] is not None)


def max_tender_value(designation: Designation, on: date) -> Money | None:
    """The largest tender that the grade allowed on that day; none where it has no limit."""
    known = [limits for begins, limits in _LIMITS if begins <= on] or [_LIMITS[0][1]]
    return known[-1][designation.grade]


def _load() -> list[tuple[date, dict[int, Money | None]]]:
    return sorted(
        (
            date.fromisoformat(one["effectiveFrom"]),
            {
                int(grade): None if most is None else Money.of(most, one["currency"])
                for grade, most in one["limits"].items()
            },
        )
        for one in json.loads(_FILE.read_text(encoding="utf-8"))
    )


_LIMITS = _load()
