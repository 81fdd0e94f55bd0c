"""Citations: an excerpt must stand on the page that it names (OPP-24)."""

import re
from unicodedata import normalize

_BLANKS = re.compile(r"\s+")
_SOFT_BREAK = re.compile(r"[\u00ad\u200b]")  # soft hyphens and zero-width blanks of PDF text


def stands_on(page_text: str, excerpt: str) -> bool:
    """Whether the excerpt is on the page, blanks and case folded."""
    wanted = folded(excerpt)
    return bool(wanted) and wanted in folded(page_text)


def folded(text: str) -> str:
    """Text as citations are compared: one blank between words, no case, no typography of blanks."""
    plain = _SOFT_BREAK.sub("", normalize("NFKC", text))
    return _BLANKS.sub(" ", plain).strip().casefold()
