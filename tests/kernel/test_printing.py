"""Printing: the same sheet gives the same bytes, and text is printed as it is."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typst

from thenga.kernel.files import printing
from thenga.kernel.outside.isolation import run_isolated

AT = datetime(2026, 11, 16, 8, tzinfo=UTC)
# Letters of Tshivenda, small and capital.
VENDA = "Ṋemaḓodzi Ḽivhuwo wa Muṅwe Ṱhavhani: ḓ ḽ ṋ ṅ ṱ Ḓ Ḽ Ṋ Ṅ Ṱ"
HOSTILE = '#read("x") #import "/etc/passwd" *bold* $a$ = heading'
PLAIN = "#sheet.name"
AS_MARKUP = '#eval(sheet.name, mode: "markup")'


def template(folder: Path, shown: str = PLAIN) -> Path:
    made = folder / "sheet.typ"
    made.write_text(f"#let sheet = json(bytes(sys.inputs.sheet))\n{shown}\n")
    return made


async def read_back(template: Path, name: str) -> str:
    """What a reader of the PDF sees where the sheet has a name."""
    made = printing.typeset(template, {"name": name}, made_at=AT)
    pages = "thenga.kernel.outside.pdf_text:read_pages"
    found = await run_isolated(pages, made.content, {"most_pages": 1}, seconds=20)
    assert (made.replaced, found.values["pages"][0]["unmapped"]) == ((), 0)
    return str(found.values["pages"][0]["text"]).strip()


@pytest.mark.parametrize("name", [VENDA, HOSTILE])
async def test_a_text_is_read_back_as_it_was_given(tmp_path: Path, name: str) -> None:
    assert await read_back(template(tmp_path), name) == name


async def test_a_planted_template_that_runs_text_is_found(tmp_path: Path) -> None:
    assert await read_back(template(tmp_path, AS_MARKUP), "*bold* = heading") != "*bold* = heading"
    with pytest.raises(typst.TypstError):
        await read_back(template(tmp_path, AS_MARKUP), HOSTILE)


def test_the_same_sheet_gives_the_same_bytes(tmp_path: Path) -> None:
    made = template(tmp_path)
    first, again, later = (
        printing.typeset(made, {"name": VENDA}, made_at=at).content
        for at in (AT, AT, AT + timedelta(seconds=1))
    )
    printing._compiler.cache_clear()  # as in another process

    anew = printing.typeset(made, {"name": VENDA}, made_at=AT).content

    assert first == again == anew
    assert later != first  # the planted difference is seen


def test_a_template_has_one_compiler(tmp_path: Path) -> None:
    made = template(tmp_path)
    before = printing._compiler.cache_info().misses

    for _ in range(3):
        printing.typeset(made, {"name": "A"}, made_at=AT)

    assert printing._compiler.cache_info().misses == before + 1


def conformance(content: bytes) -> str:
    """The part and level of PDF/A that a document claims."""
    found = re.search(rb"pdfaid:part>(\d)<.*?pdfaid:conformance>(\w)<", content, re.DOTALL)
    return "" if found is None else (found[1] + found[2]).decode()


def test_a_print_is_pdf_a_2b(tmp_path: Path) -> None:
    made = template(tmp_path)
    planted = bytes(typst.compile(made, format="pdf", sys_inputs={"sheet": '{"name": "A"}'}))

    assert conformance(printing.typeset(made, {"name": "A"}, made_at=AT).content) == "2B"
    assert conformance(planted) == ""
