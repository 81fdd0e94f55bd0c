"""Prints: the words of the law on paper, made once, the same bytes for ever."""

import hashlib
import io
import re
from base64 import b64encode
from decimal import Decimal
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pypdf
import pytest

from tests.factories import documents
from tests.factories import identity as people
from thenga.domains.billing.services.printing import pdf_archive
from thenga.domains.billing.services.printing.layout import amount, breakable, unit_price
from thenga.domains.billing.tables import Book, DocumentPdf, Edition, LineKind
from thenga.kernel.files import printing
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.money import Money


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def within(who: people.Member) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(who.organization_id)}


def words(content: bytes) -> str:
    """The text of all pages, each white space one blank."""
    reader = pypdf.PdfReader(io.BytesIO(content))
    return re.sub(r"\s+", " ", " ".join(page.extract_text() for page in reader.pages))


async def pdf(api: httpx2.AsyncClient, owner: people.Member, path: str) -> httpx2.Response:
    return await api.get(f"/billing/{path}", headers=within(owner))


@pytest.mark.rule("BIL-26")
async def test_the_print_of_an_invoice_holds_every_field_of_the_law(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    usage = documents.line(
        "55.50",
        kind=LineKind.USAGE,
        description="Reasoning runs",
        quantity=37,
        unit_price=Money.of("1.50"),
    )
    invoice = await documents.issued(host, owner.organization_id, documents.line("1499.00"), usage)
    await documents.print_all(host, owner.organization_id, invoice.id)

    answer = await pdf(api, owner, f"invoices/{invoice.id}/pdf")

    text = words(answer.content)
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == f'attachment; filename="{invoice.number}.pdf"'
    day = f"{invoice.issue_date.day} {invoice.issue_date:%B %Y}"
    for said in (
        *("Tax Invoice", "Thenga (Pty) Ltd", "1 Sample Street", "Johannesburg 2000"),
        *("VAT number 4000000001", "Mokoena Plant Hire (Pty) Ltd", "12 Industria Road"),
        *("Roodepoort 1709", "VAT number 4123456789", invoice.number, f"Date of issue {day}"),
        *("Starter, month", "14 November 2026 to 13 December 2026", "Reasoning runs"),
        *("37 R 1.50 R 55.50", "1 R 1 499.00 R 1 499.00", "Value excluding VAT R 1 351.74"),
        *("VAT at 15 % R 202.76", "Total R 1 554.50", "Amount due R 1 554.50", "Scan to pay"),
        *("Account 0000000000", "page 1 of 1"),
    ):
        assert said in text
    assert "Copy" not in text
    assert "Specimen" not in text


@pytest.mark.rule("BIL-27")
async def test_credit_note_pdf_names_its_reason_and_invoice(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await documents.issued(host, owner.organization_id, documents.line("1499.00"))
    (note,) = await documents.credited(host, invoice, "499.67")
    await documents.print_all(host, owner.organization_id, note.id)

    text = words((await pdf(api, owner, f"credit-notes/{note.id}/pdf")).content)

    for said in (
        *("Credit Note", note.number, f"Tax invoice credited {invoice.number}"),
        *("VAT number 4000000001", "VAT number 4123456789", "Reduction in VAT at 15 % R 65.17"),
        *("Reduction in value excluding VAT R 434.50", "Total credited R 499.67"),
        *("Goodwill", "As agreed on the telephone"),
    ):
        assert said in text


@pytest.mark.rule("BIL-28")
async def test_it_is_made_once_and_has_the_same_bytes_for_ever(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await documents.issued(host, owner.organization_id)
    path = f"invoices/{invoice.id}/pdf"

    early = await pdf(api, owner, path)
    await documents.print_all(host, owner.organization_id, invoice.id)
    first = await pdf(api, owner, path)
    await documents.credited(host, invoice, "499.00")  # nothing is due any more
    await documents.print_all(host, owner.organization_id, invoice.id)
    later = await pdf(api, owner, path)

    shown = (await pdf(api, owner, f"invoices/{invoice.id}")).json()["pdf"]
    assert (early.status_code, early.headers["retry-after"]) == (202, "2")
    assert first.content == later.content
    assert shown["sha256"] == hashlib.sha256(first.content).hexdigest()
    assert shown["bytes"] == len(first.content)
    digest = b64encode(hashlib.sha256(first.content).digest()).decode()
    assert first.headers["content-digest"] == f"sha-256=:{digest}:"


@pytest.mark.rule("BIL-28")
async def test_a_late_print_says_what_stood_at_the_issue(host: Host, seeded: None):
    organization_id = uuid4()
    await documents.account(host, organization_id)
    await documents.pay(host, organization_id, "48.38")
    invoice = await documents.issued(host, organization_id, documents.line("1548.38"))

    async def sheet() -> dict:
        work = documents.system(host, organization_id)
        order = await pdf_archive.sheets_to_print(work, invoice.id)
        await work.close()
        assert order is not None
        return order.sheets[Edition.ORIGINAL]

    early = await sheet()
    await documents.credited(host, invoice, "499.67")
    late = await sheet()

    sums = [one["amount"].replace("\u00a0", " ") for one in early["totals"]]
    assert sums == ["R 1 346.42", "R 201.96", "R 1 548.38", "\u2212 R 48.38", "R 1 500.00"]
    assert late == early


@pytest.mark.rule("BIL-28")
async def test_the_same_document_is_typeset_to_the_same_bytes(host: Host, seeded: None):
    invoice = await documents.issued(host, uuid4())
    work = documents.system(host, invoice.organization_id)
    order = await pdf_archive.sheets_to_print(work, invoice.id)
    await work.close()
    assert order is not None
    sheet = order.sheets[Edition.ORIGINAL]

    made = [pdf_archive.typeset(sheet, made_at=order.made_at) for _ in range(2)]
    printing._compiler.cache_clear()
    anew = pdf_archive.typeset(sheet, made_at=order.made_at)
    planted = pdf_archive.typeset(sheet | {"copy": True}, made_at=order.made_at)

    assert made[0] == made[1] == anew
    assert planted != anew


@pytest.mark.rule("BIL-26")
async def test_a_further_print_says_copy(api: httpx2.AsyncClient, host: Host, owner: people.Member):
    invoice = await documents.issued(host, owner.organization_id)
    await documents.print_all(host, owner.organization_id, invoice.id)

    copy = await pdf(api, owner, f"invoices/{invoice.id}/pdf?copy=true")
    again = await pdf(api, owner, f"invoices/{invoice.id}/pdf?copy=true")

    assert "Tax Invoice Copy" in words(copy.content)
    assert copy.content == again.content


@pytest.mark.rule("BIL-29")
async def test_a_sandbox_document_says_specimen_across_the_page(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await documents.issued(host, owner.organization_id, book=Book.SANDBOX)
    await documents.print_all(host, owner.organization_id, invoice.id)

    text = words((await pdf(api, owner, f"invoices/{invoice.id}/pdf")).content)

    print(f"{invoice.number} specimen={text.count('Specimen')}")
    assert text.count("Specimen") == 2  # across the page, and in a sentence
    assert "SBX-TI-0000001" in text
    assert "Scan to pay" not in text  # nobody pays a specimen
    assert "Account 0000000000" not in text


@pytest.mark.rule("BIL-28")
async def test_what_is_paid_has_no_pay_link(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await documents.issued(host, owner.organization_id, paid=True)
    await documents.print_all(host, owner.organization_id, invoice.id)

    text = words((await pdf(api, owner, f"invoices/{invoice.id}/pdf")).content)

    assert "Amount due R 0.00" in text
    assert "Scan to pay" not in text


async def test_a_draft_has_no_print(api: httpx2.AsyncClient, host: Host, owner: people.Member):
    made = await documents.draft(host, owner.organization_id)

    answer = await pdf(api, owner, f"invoices/{made.id}/pdf")

    assert answer.status_code == 404


HOSTILE = '#read("/etc/passwd") $x$ *bold* \\ <label> @ref // comment'


async def test_words_of_a_customer_are_never_markup(host: Host, seeded: None):
    long = "Donaudampfschifffahrtsgesellschaft" * 4
    line = documents.line(description=HOSTILE)
    other = documents.line("1.00", description=long)
    invoice = await documents.issued(host, uuid4(), line, other)
    await documents.print_all(host, invoice.organization_id, invoice.id)

    text = words(await content(host, invoice.organization_id, invoice.id))

    assert HOSTILE in text.replace("\u200b", "")
    assert long in text.replace("\u200b", "").replace(" ", "")


async def content(host: Host, organization_id: UUID, document_id: UUID) -> bytes:
    work = documents.system(host, organization_id)
    found = await work.find(DocumentPdf, document_id=document_id, edition=Edition.ORIGINAL)
    await work.close()
    assert found is not None
    return found.content


async def test_many_lines_go_on_over_the_pages(host: Host, seeded: None):
    lines = [documents.line("1.00", description=f"Line {n}") for n in range(80)]
    invoice = await documents.issued(host, uuid4(), *lines)
    await documents.print_all(host, invoice.organization_id, invoice.id)

    text = words(await content(host, invoice.organization_id, invoice.id))

    assert "page 1 of 4" in text
    assert all(f"Line {n} " in text for n in range(80))
    assert text.count("Amount due R 80.00") == 1


@pytest.mark.rule("BIL-28")
async def test_a_kept_print_is_never_changed(host: Host, settings: Settings, seeded: None):
    invoice = await documents.issued(host, uuid4())
    await documents.print_all(host, invoice.organization_id, invoice.id)
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())

    with pytest.raises(asyncpg.RaiseError, match="is append-only"):
        await admin.execute(
            "UPDATE billing.document_pdf SET content = '' WHERE document_id = $1", invoice.id
        )
    await admin.close()


def test_sums_are_printed_as_south_africans_write_them():
    assert amount(Money.of("1234567.80")) == "R\u00a01\u00a0234\u00a0567.80"
    assert amount(Money.of("-0.05")) == "\u2212\u00a0R\u00a00.05"
    assert unit_price(Decimal("0.004000")) == "R\u00a00.004"
    assert breakable("x" * 30).count("\u200b") == 1
    assert breakable("short words stay as they are") == "short words stay as they are"
