"""The text of a PDF and the structure of its pages. Only isolated children import this:

reading = "thenga.kernel.outside.pdf_text:read_pages"
await run_isolated(reading, content, {"most_pages": 500}, seconds=60)
"""

import ctypes
from typing import Any

import pypdfium2 as pdfium
from pypdfium2 import raw


def read_pages(content: bytes, options: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """`pages` in order, at most `most_pages` of `page_count`; `refused` says why there are none.

    `visible` counts the characters that are no space, `unmapped` those for which the document does
    not say which letter they are. `image_percent` is how much of the page its largest image covers.
    """
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        locked = error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        return b"", {
            "refused": "encrypted" if locked else "damaged",
            "page_count": 0,
            "pages": [],
        }
    count = len(document)
    pages = [_page(document, index) for index in range(min(count, options["most_pages"]))]
    return b"", {"refused": None, "page_count": count, "pages": pages}


def _page(document: pdfium.PdfDocument, index: int) -> dict[str, Any]:
    page = document[index]
    reading = page.get_textpage()
    # A lone surrogate is no text, and nothing that JSON could carry.
    text = reading.get_text_bounded().encode("utf-8", "replace").decode()
    width, height = page.get_size()
    found = {
        "text": text,
        "width_points": round(width),
        "height_points": round(height),
        "visible": sum(not letter.isspace() for letter in text),
        "unmapped": _unmapped(reading),
        "image_percent": _image_percent(page, width * height),
    }
    reading.close()
    page.close()
    return found


def _unmapped(reading: pdfium.PdfTextPage) -> int:
    asked = raw.FPDFText_HasUnicodeMapError
    return sum(asked(reading, ctypes.c_int(at)) == 1 for at in range(reading.count_chars()))


def _image_percent(page: pdfium.PdfPage, area: float) -> int:
    largest = 0.0
    for image in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = image.get_bounds()
        largest = max(largest, (right - left) * (top - bottom))
    return min(100, round(100 * largest / area)) if area else 0
