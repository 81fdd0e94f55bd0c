"""Portal categories and what they mean in UNSPSC and CIDB classes (OPP-7, fault 8)."""

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Category(NamedTuple):
    """What a category of the portal stands for."""

    text: str
    unspsc: tuple[str, ...]
    cidb: tuple[str, ...]


@cache
def category_map() -> dict[str, Category]:
    """The categories of this release by their text in lower case."""
    package = files("thenga.domains.opportunity")
    rows = json.loads((package / "content" / "category_map.json").read_text())["categories"]
    found = [Category(row["text"], tuple(row["unspsc"]), tuple(row["cidb"])) for row in rows]
    return {category.text.casefold(): category for category in found}


def category_of(text: str) -> Category | None:
    """The category that a portal text names."""
    return category_map().get(" ".join(text.casefold().split()))
