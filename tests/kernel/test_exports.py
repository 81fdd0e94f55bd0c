"""Files for spreadsheets: everything quoted, no text a formula, numbers still numbers."""

import csv
import io
import random

import pytest

from thenga.kernel.http import exports
from thenga.kernel.http.exports import csv_file
from thenga.kernel.money import Money

LIVE = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
FORMULAS = ("1+1", 'HYPERLINK("http://x.example")', "cmd|' /C calc'!A0", "SUM(A1:A9)", '"', "")
CELLS = 500


def cells(seed: int) -> list[str]:
    """Texts that begin like a formula, some behind blanks, with quotes, commas and breaks."""
    dice = random.Random(seed)
    return [
        " " * dice.choice((0, 0, 1, 3)) + dice.choice(LIVE) + dice.choice(FORMULAS) + '",\r\n'
        for _ in range(CELLS)
    ]


def live_in(texts: list[str]) -> int:
    """How many cells of the file a spreadsheet would reckon with."""
    content = csv_file("test", ["text"], [[text] for text in texts]).body
    rows = list(csv.reader(io.StringIO(bytes(content).decode("utf-8-sig"), newline="")))
    assert len(rows) == len(texts) + 1, "a cell has broken out of its row"
    return sum(row[0].lstrip(" ").startswith(tuple(LIVE)) for row in rows[1:])


def test_no_cell_is_a_formula() -> None:
    live = live_in(cells(46))

    print(f"cells={CELLS} live_formulas={live}")
    assert live == 0


def test_plain_text_and_numbers_stay_as_they_are() -> None:
    row = ["Mokoena, Sons", Money.of("-499.00"), -3, None, 'said "no"']

    content = bytes(csv_file("test", ["a"] * 5, [row]).body).decode("utf-8-sig")

    assert content.splitlines()[1] == '"Mokoena, Sons","-499.00","-3","","said ""no"""'


def test_a_planted_writer_that_trusts_blanks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = exports.text_of

    def trusting(cell: exports.Cell) -> str:
        return str(cell) if str(cell).startswith(" ") else honest(cell)

    monkeypatch.setattr(exports, "text_of", trusting)

    assert live_in(cells(46)) > 0
