"""Which pages of a document can be read, and which are pictures of text (OPP-22)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_FEWEST_VISIBLE = 25
_MOST_IMAGE_PERCENT = 50
_MOST_UNMAPPED = 0.30
_MOST_TEXT = 20_000  # of a page


@dataclass(frozen=True, slots=True)
class ReadPage:
    """The text of a page; `needs_ocr` where it is a picture, or its letters have no meaning."""

    number: int
    text: str
    needs_ocr: bool


@dataclass(frozen=True, slots=True)
class ReadText:
    """What was read of a document."""

    state: str  # extracted, partial, needs_ocr, unsupported or failed
    reason: str | None
    page_count: int
    pages: tuple[ReadPage, ...]

    @property
    def ocr_pages(self) -> int:
        return sum(page.needs_ocr for page in self.pages)


def needs_ocr(page: dict[str, Any]) -> bool:
    """Whether a page has to be looked at instead of read."""
    visible, unmapped = int(page["visible"]), int(page["unmapped"])
    if visible < _FEWEST_VISIBLE and page["image_percent"] > _MOST_IMAGE_PERCENT:
        return True
    return visible > 0 and unmapped > _MOST_UNMAPPED * visible


def text_of(found: dict[str, Any]) -> ReadText:
    """The result of a document from what the child process saw of its pages."""
    if found["refused"] == "encrypted":
        return ReadText("unsupported", "encrypted", 0, ())
    if found["refused"] is not None:
        return ReadText("failed", "damaged", 0, ())
    pages = tuple(_page(place, page) for place, page in enumerate(found["pages"], 1))
    return ReadText(_state(pages, found["page_count"]), None, found["page_count"], pages)


def _page(number: int, page: dict[str, Any]) -> ReadPage:
    text = page["text"].replace("\x00", "").replace("\r\n", "\n")[:_MOST_TEXT]
    picture = needs_ocr(page)
    return ReadPage(number, "" if picture else text, picture)


def _state(pages: Sequence[ReadPage], count: int) -> str:
    pictures = sum(page.needs_ocr for page in pages)
    if pages and pictures == len(pages):
        return "needs_ocr"
    return "partial" if pictures or count > len(pages) else "extracted"
