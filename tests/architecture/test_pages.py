"""The pages written by hand name only files, folders, functions, links and commands that exist."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src" / "thenga" / "domains").glob("*/README.md"),
    ]
)
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")
_FILE = re.compile(r"`([\w./-]+\.(?:py|cedar))`")
_FOLDER = re.compile(r"`((?:src|tests|docs)/[\w./-]*[\w/]|[\w./-]+/)`")
_BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_IN_BLOCK = re.compile(r"(?<![\w/.`])([\w./-]+/)(?=[\s,;]|$)")
_MEMBER = re.compile(r"`([\w./-]+\.py)`\s+`(\w+)`")
_COMMAND = re.compile(r"(?:\.venv/bin/|`)thenga ([a-z]+(?: [a-z]+)?)")
_TARGET = re.compile(r"(?:^|`)make ([a-z]+)", re.MULTILINE)


def known_files() -> list[str]:
    folders = (ROOT / "src", ROOT / "tests")
    below = [str(path) for folder in folders for path in folder.rglob("*")]
    return [*below, *(str(path) for path in ROOT.iterdir())]


def missing_files(text: str, known: list[str]) -> list[str]:
    """The files named in code marks of which there is none with that end."""
    return [name for name in _FILE.findall(text) if not any(k.endswith(f"/{name}") for k in known)]


def missing_folders(text: str, known: list[str]) -> list[str]:
    """The folders named in code marks, or in a block that lists folders, that do not exist."""
    named = [*_FOLDER.findall(text)]
    named += [name for block in _BLOCK.findall(text) for name in _IN_BLOCK.findall(block)]
    return [name for name in named if not any(k.endswith(f"/{name.strip('/')}") for k in known)]


def missing_members(text: str, known: list[str]) -> list[str]:
    """Functions and classes that a page names behind a file which does not define them."""
    return [
        f"{file} {name}"
        for file, name in _MEMBER.findall(text)
        if not any(
            re.search(rf"(?:def|class) {name}\b", Path(path).read_text())
            for path in known
            if path.endswith(f"/{file}")
        )
    ]


def on_pages(find: Callable[[str, list[str]], list[str]], known: list[str]) -> dict[str, list[str]]:
    """What is missing, by page."""
    found = {str(page.relative_to(ROOT)): find(page.read_text(), known) for page in PAGES}
    return {page: missing for page, missing in found.items() if missing}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = [to for to in _LINK.findall(page.read_text()) if not (page.parent / to).exists()]

    assert broken == []


def test_files_named_exist() -> None:
    known = known_files()

    assert on_pages(missing_files, known) == {}
    assert missing_files("`kernel/http/door_of_nobody.py`", known) == [
        "kernel/http/door_of_nobody.py"
    ]


def test_folders_named_exist() -> None:
    known = [*known_files(), str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "docs")]
    known += [str(path) for path in (ROOT / "docs").rglob("*")]

    assert on_pages(missing_folders, known) == {}
    assert missing_folders("`services/nowhere/`", known) == ["services/nowhere/"]
    assert missing_folders("```\nsrc/thenga/nowhere/   files\n```\n", known) == [
        "src/thenga/nowhere/"
    ]


def test_functions_named_behind_a_file_are_in_it() -> None:
    known = known_files()

    assert on_pages(missing_members, known) == {}
    assert missing_members("`http/doors.py` `Window`", known) == ["http/doors.py Window"]


def test_commands_named_exist() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    said = subprocess.run(
        [sys.executable, "-m", "thenga", "--help"], capture_output=True, text=True, check=True
    ).stdout
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert {name.split()[0] for name in _COMMAND.findall(text)} <= set(re.findall(r"[a-z]+", said))
    assert set(_TARGET.findall(text)) <= set(targets)
