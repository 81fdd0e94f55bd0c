"""The pages written by hand name only files, links and commands that exist."""

import re
import subprocess
import sys
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
_COMMAND = re.compile(r"(?:\.venv/bin/|`)thenga ([a-z]+(?: [a-z]+)?)")
_TARGET = re.compile(r"(?:^|`)make ([a-z]+)", re.MULTILINE)


def known_files() -> list[str]:
    folders = (ROOT / "src", ROOT / "tests")
    below = [str(path) for folder in folders for path in folder.rglob("*")]
    return [*below, *(str(path) for path in ROOT.iterdir())]


def missing_files(text: str, known: list[str]) -> list[str]:
    """The files named in code marks of which there is none with that end."""
    return [name for name in _FILE.findall(text) if not any(k.endswith(f"/{name}") for k in known)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = [to for to in _LINK.findall(page.read_text()) if not (page.parent / to).exists()]

    assert broken == []


def test_files_named_exist() -> None:
    known = known_files()

    missing = {page.name: missing_files(page.read_text(), known) for page in PAGES}

    assert {name: files for name, files in missing.items() if files} == {}
    assert missing_files("`kernel/http/door_of_nobody.py`", known) == [
        "kernel/http/door_of_nobody.py"
    ]


def test_commands_named_exist() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    said = subprocess.run(
        [sys.executable, "-m", "thenga", "--help"], capture_output=True, text=True, check=True
    ).stdout
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert {name.split()[0] for name in _COMMAND.findall(text)} <= set(re.findall(r"[a-z]+", said))
    assert set(_TARGET.findall(text)) <= set(targets)
