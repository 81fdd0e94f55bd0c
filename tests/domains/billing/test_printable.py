"""Every text that a printed field accepts is printed; what no font draws is replaced (SEC-67)."""

import io
import random
import re
import unicodedata
from typing import Any
from uuid import uuid4

import httpx2
import pypdf
import pytest
import typst
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.factories import billing, documents
from tests.factories import identity as people
from tests.suites.sizes import size
from thenga.domains.billing.services.invoicing.lines import credit_note_lines, invoice_lines
from thenga.domains.billing.services.printing import layout, pdf_archive
from thenga.domains.billing.tables import (
    CreditNote,
    CreditNoteLine,
    Edition,
    Invoice,
    InvoiceLine,
)
from thenga.kernel.files import printing
from thenga.kernel.process.host import Host
from thenga.kernel.values.fields import Name

pytestmark = pytest.mark.rule("SEC-67")

NAMES = (
    "Mokoena Plant Hire (Pty) Ltd",
    "Müller & Söhne Köln",
    "Ḓivhani Ṱhavhani Ḽiṅwe Ṋemaḓodzi",
    "Café Zoë Crème Brûlée",
    "Łódź Święty Ćwiek",
    "Ελληνική Εταιρεία",
    "Общество Ограниченной",
    "שלום בעמ",
    "شركة المقاولات العربية",
    "हिन्दी कंपनी",
    "中国建筑有限公司",
    "株式会社ソニー",
    "한국전력공사",
    "บริษัท ไทย จำกัด",
    "தமிழ் நிறுவனம்",
    "አዲስ አበባ",
    "Sunny 😀 Traders",
    "Family 👨‍👩‍👧‍👦 Care",
    "Flag 🇿🇦 Supplies",
    "Heart ❤️ Clinic",
    "Snap\u202egnp.exe",
    "Zero\u200b\u200d\ufeffWidth",
    "Z" + "\u0300\u0301\u0302\u0303\u0304" * 20 + "algo",
    "Private \ue000\uf8ff\U000f0000 Use",
    "Unassigned \u0378\U0003fffe Point",
    "Lone \ufe0f\U000e0100\u0301 Selector",
    "W" * 200,
)


def text_of(content: bytes) -> str:
    pages = pypdf.PdfReader(io.BytesIO(content)).pages
    return re.sub(r"\s+", " ", " ".join(page.extract_text() for page in pages))


async def printed(host: Host, name: str) -> tuple[Invoice, bytes] | typst.TypstError:
    """An invoice to a recipient of that name, printed by what the job calls."""
    organization_id = uuid4()
    recipient = documents.BILL_TO | {"legal_name": TypeAdapter(Name).validate_python(name)}
    await billing.account(host, organization_id, bill_to=recipient)
    invoice = await documents.issued(host, organization_id)
    try:
        await documents.print_all(host, organization_id, invoice.id)
    except typst.TypstError as fault:
        return fault
    invoice = await documents.get(host, Invoice, organization_id, invoice.id)
    work = documents.system(host, organization_id)
    found = await pdf_archive.find_pdf(work, invoice.id, edition=Edition.ORIGINAL)
    await work.close()
    assert found is not None
    return invoice, found.content


async def test_an_invoice_to_any_name_is_printed(host: Host, seeded: None):
    results = [await printed(host, name) for name in NAMES]

    made = [one for one in results if not isinstance(one, typst.TypstError)]
    replaced = sum(bool((invoice.pdf or {}).get("replaced")) for invoice, _ in made)
    print(f"names={len(NAMES)} printed={len(made)} with_replacements={replaced}")
    assert len(NAMES) == len(made) == 27
    assert all(len(pypdf.PdfReader(io.BytesIO(content)).pages) == 1 for _, content in made)
    tshivenda = text_of(made[2][1])
    assert NAMES[2] in tshivenda


async def test_what_is_replaced_is_visible_and_recorded(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner")
    recipient = documents.BILL_TO | {"legal_name": "Sunny 😀 中 Traders"}
    await billing.account(host, owner.organization_id, bill_to=recipient)
    invoice = await documents.issued(host, owner.organization_id)
    await documents.print_all(host, owner.organization_id, invoice.id)
    within = owner.headers | {"X-Organization-Id": str(owner.organization_id)}

    answer = await api.get(f"/billing/invoices/{invoice.id}", headers=within)
    pdf = await api.get(f"/billing/invoices/{invoice.id}/pdf", headers=within)

    assert answer.json()["pdf"]["replaced"] == ["U+4E2D", "U+1F600"]
    assert "Sunny \ufffd \ufffd Traders" in text_of(pdf.content)
    assert answer.json()["recipient"]["legalName"] == "Sunny 😀 中 Traders"


SEEDS = size(check=4, prove=40)
ONE_IN = size(check=241, prove=61)
BLOCKS = [(start, start + 0xFF) for start in range(0, 0x30000, 0x100)] + [
    (0xE0000, 0xE01FF),
    (0xF0000, 0xF00FF),
    (0x10FF00, 0x10FFFF),
]


def block_text(source: random.Random, most: int) -> str:
    """Characters of two blocks mixed with ASCII; what fields refuse is left out."""
    chosen = [source.choice(BLOCKS) for _ in range(2)] + [(0x20, 0x7E), (0x300, 0x36F)]
    points = (source.randint(*source.choice(chosen)) for _ in range(source.randint(1, most)))
    accepted = "".join(chr(one) for one in points if not 0xD800 <= one <= 0xDFFF)
    return re.sub(r"[\u0000-\u001F\u007F-\u009F\u2028\u2029]", "", accepted) or "x"


def invoice_sheet(invoice: Invoice, lines: list[InvoiceLine], words: Any) -> layout.Sheet:
    """The sheet of an invoice whose every text field holds one of the words."""
    address = {name: words(120) for name in ("line1", "line2", "city", "province")}
    party = {"legal_name": words(200), "trading_name": words(200), "address": address}
    bank = {"account_name": words(120), "bank_name": words(120)}
    numbers = {"vat_number": "4123456789", "registration_number": "2019/123456/07"}
    invoice.recipient = {**party, **numbers}
    invoice.seller = {**party, **numbers, "bank": bank}
    invoice.order_number = words(50)
    for line in lines:
        line.description = words(200)
    return layout.of_invoice(
        invoice, lines, edition=Edition.ORIGINAL, pay_link="https://pay.example/1"
    )


def note_sheet(note: CreditNote, lines: list[CreditNoteLine], words: Any) -> layout.Sheet:
    note.recipient = {**documents.BILL_TO, "legal_name": words(200)}
    note.explanation = words(300)
    for line in lines:
        line.description = words(200)
    return layout.of_credit_note(note, lines, edition=Edition.COPY)


async def paper(host: Host) -> tuple[Any, Any]:
    invoice = await documents.issued(host, uuid4(), documents.line("1499.00"))
    (note,) = await documents.credited(host, invoice, "499.67")
    work = documents.system(host, invoice.organization_id)
    lines, credited = await invoice_lines(work, invoice.id), await credit_note_lines(work, note.id)
    await work.close()
    return (invoice, list(lines)), (note, list(credited))


async def test_every_printed_field_accepts_every_character(host: Host, seeded: None):
    invoice, note = await paper(host)
    failures, replaced = [], 0
    for seed in range(SEEDS):
        source = random.Random(seed)

        def words(most: int, source: random.Random = source) -> str:
            return block_text(source, most)

        for sheet in (invoice_sheet(*invoice, words), note_sheet(*note, words)):
            try:
                made = pdf_archive.typeset(sheet, made_at=invoice[0].issued_at)
                replaced += bool(made.replaced)
                assert made.content.startswith(b"%PDF")
            except (typst.TypstError, ValueError) as fault:
                failures.append((seed, str(fault)[:200]))
    print(f"sheets={2 * SEEDS} failures={len(failures)} with_replacements={replaced}")
    assert failures == []


async def test_no_single_code_point_stops_a_print(host: Host, seeded: None):
    """One code point in so many of the first three planes, assigned or not."""
    invoice, _ = await paper(host)
    points = [n for n in range(0x20, 0x32000) if not 0xD800 <= n <= 0xDFFF and n % ONE_IN == 0]
    failures = 0
    for start in range(0, len(points), 1100):
        texts = iter(points[start : start + 1100])

        def words(most: int, texts: Any = texts) -> str:
            taken = "".join(chr(one) for _, one in zip(range(min(most, 100)), texts, strict=False))
            return taken or "x"

        try:
            pdf_archive.typeset(invoice_sheet(*invoice, words), made_at=invoice[0].issued_at)
        except (typst.TypstError, ValueError) as fault:
            failures += 1
            print(str(fault)[:200])
    print(f"code_points={len(points)} failures={failures}")
    assert failures == 0


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1, max_size=200))
def test_printable_text_is_stable_and_bounded(written: str):
    once = printing.printable(written)
    again = printing.printable(once.text)

    assert again.text == once.text
    assert len(once.text) <= len(unicodedata.normalize("NFC", written))
    assert not again.replaced


@pytest.mark.parametrize(
    "word", ["W" * 300, "\U0001f600" * 300, "ﷺ" * 300, "\u0300" * 300, "中" * 300]
)
async def test_a_very_long_word_stays_on_the_page(host: Host, seeded: None, word: str):
    invoice, _ = await paper(host)
    sheet = invoice_sheet(*invoice, lambda most: word[:most])

    made = pdf_archive.typeset(sheet, made_at=invoice[0].issued_at)

    rightmost = 0.0

    def visit(_text: str, _cm: Any, matrix: list[float], *_: Any) -> None:
        nonlocal rightmost
        rightmost = max(rightmost, matrix[4])

    pages = pypdf.PdfReader(io.BytesIO(made.content)).pages
    for page in pages:
        page.extract_text(visitor_text=visit)
    assert len(pages) <= 2
    assert 0 < rightmost < float(pages[0].mediabox.width)
    assert "Amount due R 1 499.00" in text_of(made.content)


def test_a_planted_text_that_is_not_replaced_is_found():
    with pytest.raises(typst.TypstError, match="could not be displayed"):
        printing._compiled(printing._PROBE, {"probe": "Sunny \U0001f600 Traders"})
