"""Files for spreadsheets: everything quoted, no text a formula, numbers still numbers."""

import csv
import io
import random
from unicodedata import category, normalize

import pytest

from thenga.kernel.http import exports
from thenga.kernel.http.exports import csv_file
from thenga.kernel.values.money import Money

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


def test_no_form_of_a_sign_is_live_behind_anything_unseen() -> None:
    """Every character that is another form of a sign, behind everything that may be passed over."""
    every = [chr(n) for n in range(1, 0x110000) if not 0xD800 <= n < 0xE000]
    signs = [c for c in every if normalize("NFKC", c)[:1] in tuple("=+-@")]
    unseen = [c for c in every if c.isspace() or category(c) in ("Cc", "Cf")]
    texts = [f"{before}{sign}1" for before in ["", "  ", *unseen] for sign in signs]

    free = [text for text in texts if not exports.text_of(text).startswith("'")]

    print(f"signs={len(signs)} unseen={len(unseen)} cells={len(texts)} live={len(free)}")
    assert free == []


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
