"""The one writer of files that people open in a spreadsheet.

Every field is quoted, and no text can be read as a formula. Numbers and money stay numbers.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any
from unicodedata import category, normalize
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import Depends, Request
from fastapi.responses import Response

from thenga.kernel.values.money import Money

Cell = str | int | Decimal | Money | date | datetime | UUID | None

CSV = "text/csv"
_JSON = "application/json"
# What makes a program reckon with a cell, in any form that compatibility makes equal (wide, small).
_LIVE = frozenset("=+-@")
_ENDS_A_CELL = frozenset("\t\r\n")
_PASSED_OVER = ("Cc", "Cf", "Zl", "Zp", "Zs")  # blanks and what cannot be seen


async def _prefers_csv(request: Request) -> bool:
    """Whether the caller names CSV before JSON; who names neither gets JSON."""
    named = [one.partition(";")[0].strip() for one in request.headers.get("accept", "").split(",")]
    known = [one for one in named if one in (CSV, _JSON)]
    return known[:1] == [CSV]


AsCsv = Annotated[bool, Depends(_prefers_csv)]


def text_of(cell: Cell, zone: ZoneInfo) -> str:
    """A cell as it stands in the file; text that would be live begins with an apostrophe.

    An instant is shown on the reader's clock with its offset, so that its day is theirs.
    """
    if isinstance(cell, Money):
        return cell.amount
    if isinstance(cell, datetime):
        return cell.astimezone(zone).isoformat()
    if not isinstance(cell, str):
        return "" if cell is None else str(cell)
    return f"'{cell}" if _is_live(cell) else cell


def _is_live(text: str) -> bool:
    """Whether the first character that a program does not pass over begins a formula."""
    for letter in text:
        if letter in _ENDS_A_CELL or normalize("NFKC", letter)[:1] in _LIVE:
            return True
        if category(letter) not in _PASSED_OVER:
            return False
    return False


def csv_file(
    name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]], *, time_zone: str
) -> Response:
    """Rows as an attachment; the mark at its beginning tells a spreadsheet that it is UTF-8."""
    file, zone = io.StringIO(), ZoneInfo(time_zone)
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows([text_of(cell, zone) for cell in row] for row in rows)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.csv"',
        "Vary": "Accept",
    }
    content = file.getvalue().encode("utf-8-sig")
    return Response(content, 200, headers, media_type=f"{CSV}; charset=utf-8")


# What a route that also answers with a file says of it in the API document.
AS_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {CSV: {"schema": {"type": "string"}}}},
}
