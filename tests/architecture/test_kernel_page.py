"""`docs/kernel.md` says what to use for what; every name on it exists, and nothing is left out."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "kernel.md"
# Where the paths of the page begin: the kernel's own modules, those of domains, and files.
PACKAGES = ("thenga.kernel", "thenga")
FOLDERS = (ROOT, ROOT / "src" / "thenga")

_QUOTED = re.compile(r"`([^`]+)`")
_REFERENCE = re.compile(r"[\w./-]*[./][\w./-]*")


def rows(page: str) -> list[str]:
    """What each row says to use."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    used = [re.split(r"(?<!\\)\|", line)[2] for line in lines]
    return [use for use in used if use.strip() != "use"]


def references(row: str) -> Iterator[str]:
    """Every name with a path or a dot in it; `.name` is in the module or class named before."""
    last = ""
    for quoted in _QUOTED.findall(row):
        name = quoted.partition("(")[0]
        if not _REFERENCE.fullmatch(name) or name.startswith("work."):
            continue
        if name.startswith("."):
            beside = last.rpartition(".")[0] + name
            yield beside if _exists(beside) else last + name
        else:
            last = name
            yield name


def stale(page: str) -> list[str]:
    """References that lead nowhere."""
    return [name for row in rows(page) for name in references(row) if not _exists(name)]


def _exists(name: str) -> bool:
    if any((folder / name).exists() for folder in FOLDERS):
        return True
    found = _module(name)
    if found is None:
        return False
    value: Any
    value, names = found
    for each in names:
        if each in _annotated(value):
            return True  # a field without a default is no attribute of its class
        if not hasattr(value, each):
            return False
        value = getattr(value, each)
    return True


def _annotated(value: Any) -> set[str]:
    kinds = getattr(value, "__mro__", ())
    return {name for kind in kinds for name in vars(kind).get("__annotations__", ())}


def _module(name: str) -> tuple[ModuleType, list[str]] | None:
    """The module that a reference begins with, and the names that are left."""
    parts = name.replace("/", ".").split(".")
    for package in PACKAGES:
        for end in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join([package, *parts[:end]]))
            except ModuleNotFoundError:
                continue
            return found, parts[end:]
    return None


def without_a_row(page: str) -> list[str]:
    """Modules of the kernel that domains import and no row names."""
    graph = grimp.build_graph("thenga", exclude_type_checking_imports=True)
    found = [_module(name) for row in rows(page) for name in references(row)]
    named = {each[0].__name__ for each in found if each is not None}
    return sorted(
        module
        for module in graph.find_descendants("thenga.kernel")
        if module not in named
        and any(
            importer.startswith("thenga.domains.")
            for importer in graph.find_modules_that_directly_import(module)
        )
    )


def test_every_name_of_the_page_exists() -> None:
    page = PAGE.read_text()

    names = [name for row in rows(page) for name in references(row)]

    print(f"\nkernel_page rows={len(rows(page))} names={len(names)} stale={len(stale(page))}")
    assert stale(page) == []


def test_every_module_that_domains_import_has_a_row() -> None:
    assert without_a_row(PAGE.read_text()) == []


@pytest.mark.parametrize(
    "use",
    [
        "`db/reader.Reader.fetch_everything`",
        "`db/readers.Reader`",
        "`db/reader.Reader`: `.get`, `.fetch_everything`",
        "`tests/nowhere.py`",
        "`db/work.Work.commit(now=)`",
    ],
)
def test_a_planted_stale_row_is_found(use: str) -> None:
    page = PAGE.read_text() + f"| something | {use} |\n"

    assert len(stale(page)) == 1


def test_a_planted_module_without_a_row_is_found() -> None:
    lines = PAGE.read_text().splitlines()
    page = "\n".join(line for line in lines if "db/step_up" not in line)

    assert without_a_row(page) == ["thenga.kernel.db.step_up"]
