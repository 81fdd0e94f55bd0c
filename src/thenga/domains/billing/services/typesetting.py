"""Typesetting with Typst: the same sheet gives the same bytes, with the fonts of the package."""

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import typst

_CONTENT = Path(__file__).parents[1] / "content"
_SETTING = Lock()  # a compiler does one thing at a time


@cache
def _compiler() -> typst.Compiler:
    # No fonts of the machine: the print would differ from one to the next.
    return typst.Compiler(
        _CONTENT / "document.typ", root=_CONTENT, font_paths=[], ignore_system_fonts=True
    )


def typeset(sheet: dict[str, Any], *, made_at: datetime) -> bytes:
    """The sheet as a PDF to be kept for years (PDF/A); `made_at` stands in it as its time."""
    with _SETTING:
        made = _compiler().compile(
            format="pdf",
            sys_inputs={"sheet": json.dumps(sheet, ensure_ascii=False)},
            pdf_standards=["a-2b"],
            timestamp=int(made_at.timestamp()),
        )
    if not isinstance(made, bytes):
        raise TypeError("a document is one file")
    return made
