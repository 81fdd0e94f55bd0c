"""What a verification proves: its codes and its CIDB grading, never the supplier's own words.

Values in, answers out (MKT-19, MKT-23).
"""

import re
from dataclasses import dataclass

from thenga.domains.marketplace.tables.categories import Category
from thenga.domains.supplier.public import Verification

_DESIGNATION = re.compile(r"([1-9])([A-Z]{2})( ?PE)?")
_SHOWN = 5  # codes that a badge names


@dataclass(frozen=True, slots=True)
class Grading:
    """A CIDB grade in a class of works."""

    grade: int
    works_class: str
    emerging: bool


def grading_of(verification: Verification) -> Grading | None:
    """The CIDB grading that was stated."""
    found = _DESIGNATION.fullmatch(verification.cidb_designation or "")
    return None if found is None else Grading(int(found[1]), found[2], found[3] is not None)


def fits(verification: Verification, category: Category) -> bool:
    """Whether the codes stated belong to a category; one that names no codes takes any."""
    classes, prefixes = category.cidb_classes, category.unspsc_prefixes
    if not classes and not prefixes:
        return True
    grading = grading_of(verification)
    if grading is not None and grading.works_class in classes:
        return True
    return any(
        code.code in classes
        if code.scheme.casefold() == "cidb"
        else code.scheme.casefold() == "unspsc" and code.code.startswith(tuple(prefixes))
        for code in verification.classifications
    )


def checked_words(verification: Verification) -> str:
    """What was checked, for people to read: the CIDB grading, or else the codes."""
    if verification.cidb_designation:
        return f"CIDB {verification.cidb_designation}"
    codes = [f"{code.scheme.upper()} {code.code}" for code in verification.classifications]
    if not codes:
        return "A capability of the company profile"
    more = len(codes) - _SHOWN
    return ", ".join(codes[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
