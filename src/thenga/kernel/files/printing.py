"""Printing with Typst: the same sheet gives the same bytes, with the fonts of the package.

Every text can be printed (SEC-67). A character that no font draws, or that only steers how others
are shown, is printed as U+FFFD and named in the result, so that the caller can record it.
"""

import json
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import typst

REPLACEMENT = "\ufffd"
_MOST_MARKS = 3  # combining marks on one letter; more of them would cover the lines around it
_MARKS = frozenset({"Mn", "Mc", "Me"})
_KEPT = frozenset("\n\t\u00ad\u200b\u200c\u200d")  # they steer breaks and joins, and nothing else
# Controls, surrogates, private use and unassigned code points, and invisible formatting such as
# the overrides of direction, which would show an amount or a name turned round.
_NEVER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_PROBE = Path(__file__).with_suffix(".typ")
_COMPILING = Lock()  # a compiler does one thing at a time


@dataclass(frozen=True, slots=True)
class Printable:
    """A text that can be printed, with the characters that had to be replaced or left out."""

    text: str
    replaced: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Print:
    """A PDF and the code points of its sheet that are not shown in it, as `U+1F600`."""

    content: bytes
    replaced: tuple[str, ...]


def typeset(template: Path, sheet: dict[str, Any], *, made_at: datetime) -> Print:
    """The sheet as PDF/A; `made_at` stands in it as its time.

    Fonts are asked for single characters only where the sheet as it is cannot be printed. Where
    characters fail only together, all but plain letters are replaced.
    """
    for drawn in (_any, _is_drawn, _is_plain):
        replaced: set[str] = set()
        clean = _each_text(sheet, drawn, replaced)
        try:
            inputs = {"sheet": json.dumps(clean, ensure_ascii=False)}
            content = _compiled(template, inputs, made_at)
        except typst.TypstError:
            if drawn is _is_plain:
                raise  # no text is to blame for this
            continue
        points = sorted(replaced)
        return Print(content, tuple(f"U+{ord(one):04X}" for one in points))
    raise AssertionError("the last attempt returns or raises")


def printable(text: str, drawn: Callable[[str], bool] | None = None) -> Printable:
    """The text with U+FFFD for each character that is not `drawn`; asks the fonts by default."""
    if text.isascii() and text.isprintable():
        return Printable(text)
    drawn = drawn or _is_drawn
    shown: list[str] = []
    replaced: set[str] = set()
    marks = _MOST_MARKS  # a text does not begin with a mark: it would hang on nothing
    for one in unicodedata.normalize("NFC", text):
        category = unicodedata.category(one)
        marks = marks + 1 if category in _MARKS else 0
        if marks > _MOST_MARKS:
            replaced.add(one)
        elif one in _KEPT or (category not in _NEVER and drawn(one)):
            shown.append(one)
        else:
            shown.append(REPLACEMENT)
            replaced.add(one)
    return Printable("".join(shown), frozenset(replaced))


def _any(_: str) -> bool:
    return True


def _is_plain(one: str) -> bool:
    return " " <= one <= "\u024f" or one == REPLACEMENT or one == "\u2212"


@lru_cache(maxsize=20_000)
def _is_drawn(one: str) -> bool:
    """Whether a font of the package draws the character, in regular and in bold."""
    try:
        _compiled(_PROBE, {"probe": one})
    except typst.TypstError:
        return False
    return True


def _each_text(value: Any, drawn: Callable[[str], bool], replaced: set[str]) -> Any:
    if isinstance(value, str):
        found = printable(value, drawn)
        replaced |= found.replaced
        return found.text
    if isinstance(value, dict):
        return {name: _each_text(one, drawn, replaced) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(one, drawn, replaced) for one in value]
    return value


@cache
def _compiler(template: Path) -> typst.Compiler:
    # No fonts of the machine: the print would differ from one to the next.
    return typst.Compiler(template, root=template.parent, font_paths=[], ignore_system_fonts=True)


def _compiled(template: Path, inputs: dict[str, str], made_at: datetime | None = None) -> bytes:
    with _COMPILING:
        made = _compiler(template).compile(
            format="pdf",
            sys_inputs=inputs,
            pdf_standards=["a-2b"],  # PDF/A, to be kept for years
            timestamp=int(made_at.timestamp()) if made_at else 0,
        )
    if not isinstance(made, bytes):
        raise TypeError("a document is one file")
    return made
