"""PDFs of invoices: every field of a tax invoice, printed once, with or without the bank block."""

import hashlib
import io

import httpx2
import pytest
from pypdf import PdfReader

from tests.conftest import Time
from tests.domains.contract.deals import BANK, VAT_NUMBER, Deal, deal
from thenga.domains.contract.services.invoicing import layout
from thenga.domains.organization.public import Disclosures
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

pytestmark = pytest.mark.rule("CON-19")


async def printed(e: Deal, invoice_id: str, query: str = "") -> httpx2.Response:
    path = f"/contracts/invoices/{invoice_id}/pdf{query}"
    return await e.api.get(path, headers=e.owner.acting)


def text_of(answer: httpx2.Response) -> str:
    pages = PdfReader(io.BytesIO(answer.content)).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


async def test_a_print_has_every_field_of_a_tax_invoice(e: Deal) -> None:
    await e.claim("advance", "483000.00")
    invoice = await e.invoice(M1="966000.00")
    waiting = await printed(e, invoice["id"])
    await e.timeline.settle()

    original = await printed(e, invoice["id"])
    again, copy = await printed(e, invoice["id"]), await printed(e, invoice["id"], "?copy=true")
    shown = await e.get(f"/contracts/invoices/{invoice['id']}")

    text = text_of(original)
    assert waiting.status_code == 202
    for field in (
        *(
            "Tax Invoice",
            "Mokoena Civils (Pty) Ltd",
            "14 Tshilidzini Road",
            f"VAT number {VAT_NUMBER}",
        ),
        *("Emfuleni Local Municipality", "VAT number 4000846412", "INV-0002", "2 November 2026"),
        *("M1, as certified", "8/2/RNM0614", "PO-4500012345", "VAT charged at 15 %"),
        *("R 546 000.00", "R 81 900.00", "R 627 900.00", "page 1 of 1"),
        *(BANK["accountNumber"], BANK["branchCode"], "Reference INV-0002"),
    ):
        assert field in text.replace("\u00a0", " "), field
    assert original.content == again.content != copy.content
    assert "Copy" in text_of(copy)
    assert shown["pdf"]["sha256"] == hashlib.sha256(original.content).hexdigest()
    assert shown["warnings"] == []


@pytest.mark.parametrize("answers", [True, False])
async def test_without_the_bank_account_the_print_says_so(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None, answers: bool
) -> None:
    e = await deal(api, host, clock, has_bank=not answers)
    if not answers:
        del e.timeline.host.bindings._bound[Disclosures]
    invoice = await e.invoice(M1="966000.00")
    await e.timeline.settle()

    shown = await e.get(f"/contracts/invoices/{invoice['id']}")

    text = text_of(await printed(e, invoice["id"])).replace("\u00a0", " ")
    assert "Bank details are not printed on this invoice" in text
    assert BANK["accountNumber"] not in text
    assert shown["warnings"] == ["bank_details_left_out"]


@pytest.mark.rule("CON-20")
async def test_a_sandbox_prints_specimens(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
) -> None:
    e = await deal(api, host, clock, mode="sandbox")
    invoice = await e.invoice(M1="966000.00")
    await e.timeline.settle()

    text = text_of(await printed(e, invoice["id"]))

    assert invoice["number"] == "SBX-INV-0001"
    assert "Specimen from a sandbox. Nothing is owed." in text
    assert BANK["accountNumber"] not in text


async def test_a_credit_note_is_printed_too(e: Deal) -> None:
    invoice = await e.invoice(M1="966000.00")
    credited = (await e.move(invoice, "credit", reason="Work was remeasured")).json()
    await e.timeline.settle()
    note = credited["creditNotes"][0]

    answer = await printed(e, invoice["id"], f"?creditNoteId={note['id']}")

    text = text_of(answer).replace("\u00a0", " ")
    for field in ("Credit Note", "CN-0001", "INV-0001", "Work was remeasured", "R 869 400.00"):
        assert field in text, field


async def test_the_bank_account_is_kept_nowhere_but_in_the_print(e: Deal) -> None:
    invoice = await e.invoice(M1="966000.00")
    await e.timeline.settle()

    async with e.host.engines.connection("contract", "contract_system") as connection:
        text = await connection.fetchval(
            "SELECT to_jsonb(i)::text FROM contract.invoice i WHERE id = $1", invoice["id"]
        )

    assert BANK["accountNumber"] not in text


def test_amounts_are_written_as_people_read_them() -> None:
    assert layout.amount(Money.of("1234567.80")) == "R\u00a01\u00a0234\u00a0567.80"
    assert layout.amount(Money.of("-5.00")) == "\u2212\u00a0R\u00a05.00"
    assert layout.breakable("x" * 45).split("\u200b") == ["x" * 20, "x" * 20, "x" * 5]
