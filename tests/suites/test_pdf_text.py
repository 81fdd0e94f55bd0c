"""PDFs read in an isolated child: text and structure, or a named reason why there is none."""

import io
import random
from typing import Any

import pypdf
import typst

from tests.suites.sizes import size
from thenga.kernel.outside.isolation import IsolationFailed, Reason, run_isolated

TEXT = "Bid of Ṱhohoyanḓou Ḽivhuwo: R 1 250 000,00"
GREY = ", ".join(["127"] * 36)
SHEET = f"""
#set page(width: 400pt, height: 300pt)
{TEXT}
#pagebreak()
#set page(margin: 0pt)
#image(bytes(({GREY})), format: (encoding: "rgb8", width: 4, height: 3), width: 400pt)
"""


def made() -> bytes:
    """A page of text, and a page that is one picture."""
    return bytes(typst.compile(SHEET.encode(), format="pdf"))


def encrypted(content: bytes) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    writer.encrypt("secret", algorithm="AES-256")
    stored = io.BytesIO()
    writer.write(stored)
    return stored.getvalue()


async def read(content: bytes, most_pages: int = 10) -> dict[str, Any]:
    options = {"most_pages": most_pages}
    found = await run_isolated(
        "thenga.kernel.outside.pdf_text:read_pages", content, options, seconds=20
    )
    return found.values


async def test_text_and_structure_are_read() -> None:
    found = await read(made())

    first, second = found["pages"]
    assert (found["refused"], found["page_count"]) == (None, 2)
    assert first["text"].strip() == TEXT
    assert (first["width_points"], first["height_points"]) == (400, 300)
    assert (first["visible"], first["unmapped"], first["image_percent"]) == (35, 0, 0)
    assert (second["visible"], second["image_percent"]) == (0, 100)


async def test_only_so_many_pages_are_read() -> None:
    found = await read(made(), most_pages=1)

    assert (found["page_count"], len(found["pages"])) == (2, 1)


async def test_encrypted_and_damaged_documents_are_named() -> None:
    assert (await read(encrypted(made())))["refused"] == "encrypted"
    assert (await read(b"%PDF-1.7 nothing more"))["refused"] == "damaged"
    assert (await read(b""))["refused"] == "damaged"


async def test_changed_documents_end_in_an_answer_or_a_named_failure() -> None:
    whole, dice = made(), random.Random(43)
    answers = failures = 0
    for _ in range(size(10, 500)):
        changed = bytearray(whole[: dice.randrange(len(whole) // 2, len(whole))])
        for _ in range(dice.randrange(40)):
            changed[dice.randrange(len(changed))] = dice.randrange(256)
        try:
            await read(bytes(changed))
            answers += 1
        except IsolationFailed as failure:
            assert failure.reason in (Reason.TIME, Reason.MEMORY, Reason.CRASHED, Reason.FAILED)
            failures += 1

    print(f"documents={answers + failures} answers={answers} failures={failures} uncaught=0")
    assert answers > 0
