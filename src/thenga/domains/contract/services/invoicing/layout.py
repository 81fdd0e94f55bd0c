"""The text of a printed invoice or credit note: every field of a full tax invoice (CON-19).

Values in, text out; the kernel typesets it.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from thenga.domains.contract.tables import (
    CreditNote,
    Edition,
    Invoice,
    InvoiceKind,
    InvoiceLine,
)
from thenga.kernel.values.money import Money

Sheet = dict[str, Any]
Bank = dict[str, Any]
_SPACE = "\u00a0"
_LONGEST = 20  # characters of a word without a break
_WORD = re.compile(rf"\S{{{_LONGEST + 1},}}")
_NO_BANK = "Bank details are not printed on this invoice. Ask the seller for them in writing."


def amount(money: Money) -> str:
    """`R 1 499.00`, with non-breaking spaces and a leading minus."""
    sign = f"\u2212{_SPACE}" if money.minor < 0 else ""
    unit = "R" if money.currency == "ZAR" else money.currency
    whole = f"{abs(Decimal(money.amount)):,f}".replace(",", _SPACE)
    return f"{sign}{unit}{_SPACE}{whole}"


def breakable(words: str) -> str:
    """Allow breaks in long words so that they fit their column, but never before a mark."""
    return _WORD.sub(_broken, words)


def _broken(word: re.Match[str]) -> str:
    made, run = [], 0
    for letter in word[0]:
        if run >= _LONGEST and not unicodedata.combining(letter):
            made.append("\u200b")
            run = 0
        made.append(letter)
        run += 1
    return "".join(made)


def day(when: date | None) -> str:
    return "" if when is None else f"{when.day} {when:%B} {when.year}"


def invoice_sheet(
    invoice: Invoice, lines: Sequence[InvoiceLine], *, edition: Edition, bank: Bank | None
) -> Sheet:
    """An invoice as it was submitted, whatever happened since."""
    printed = invoice.printed or {}
    facts = [
        ("Invoice number", invoice.number),
        ("Date of issue", day(invoice.submitted_on)),
        ("Date of supply", day(invoice.supply_date)),
        ("Contract number", printed.get("contract_number")),
        ("Order number", printed.get("order_number")),
    ]
    is_taxed = invoice.rate_percent is not None
    heading = "Tax Invoice" if is_taxed else "Invoice"
    return _sheet(printed, heading, facts, edition, is_taxed=is_taxed) | {
        "number": invoice.number,
        "columns": _columns(invoice.rate_percent),
        "lines": [_line(line, invoice.currency) for line in lines],
        "totals": _invoice_totals(invoice),
        "notes": [
            *_terms_note(printed),
            _bank_note(bank, invoice.number or ""),
            *([_note("Note", invoice.note)] if invoice.note else []),
        ],
    }


def credit_note_sheet(note: CreditNote, *, edition: Edition) -> Sheet:
    """A credit note: what is taken back, its VAT, the reason and the invoice."""
    printed = note.printed
    facts = [
        ("Credit note number", note.number),
        ("Date of issue", day(note.issued_on)),
        ("Invoice credited", printed.get("invoice_number")),
        ("Contract number", printed.get("contract_number")),
        ("Order number", printed.get("order_number")),
    ]
    total = Money(note.amount_minor, note.currency)
    line = {
        "description": breakable(f"Credit on invoice {printed.get('invoice_number')}"),
        "quantity": "1",
        "amount": amount(total),
    }
    is_taxed = note.rate_percent is not None
    return _sheet(printed, "Credit Note", facts, edition, is_taxed=is_taxed) | {
        "number": note.number,
        "columns": _columns(note.rate_percent),
        "lines": [line],
        "totals": [*_vat_totals(note, "credited"), _total("Total credited", total, strong=True)],
        "notes": [_note("Reason for this credit note", note.explanation)],
    }


def _sheet(
    printed: dict[str, Any],
    heading: str,
    facts: list[tuple[str, str | None]],
    edition: Edition,
    *,
    is_taxed: bool,
) -> Sheet:
    seller = dict(printed.get("seller") or {})
    if not is_taxed:
        seller.pop("vat_number", None)  # whoever charges no VAT does not show a VAT number
    registered = seller.get("registration_number")
    name = seller.get("legal_name") or ""
    return {
        "heading": heading,
        "copy": edition is Edition.COPY,
        "specimen": bool(printed.get("specimen")),
        "seller": _party(seller, ""),
        "recipient": _party(printed.get("buyer") or {}, "Invoiced to"),
        "facts": [(label, breakable(value)) for label, value in facts if value],
        "footer": breakable(f"{name}, registration number {registered}" if registered else name),
    }


def _party(who: dict[str, Any], label: str) -> dict[str, Any]:
    address, trading, vat = who.get("address"), who.get("trading_name"), who.get("vat_number")
    lines = [
        *([f"trading as {trading}"] if trading and trading != who.get("legal_name") else []),
        *_address_lines(address),
        *([f"VAT number {vat}"] if vat else []),
    ]
    return {
        "label": label,
        "name": breakable(who.get("legal_name") or ""),
        "lines": [breakable(line) for line in lines],
    }


def _address_lines(address: Any) -> list[str]:
    """The lines of an address, which is one text or has parts."""
    if not isinstance(address, dict):
        return [line.strip() for line in str(address or "").splitlines() if line.strip()]
    town = " ".join(part for part in (address.get("city"), address.get("postalCode")) if part)
    parts = (address.get("line1"), address.get("line2"), address.get("suburb"), town)
    return [part for part in parts if part]


def _columns(rate_percent: Decimal | None) -> tuple[str, str, str]:
    is_taxed = rate_percent is not None
    return "Description", "Quantity", "Amount incl. VAT" if is_taxed else "Amount"


def _line(line: InvoiceLine, currency: str) -> dict[str, str]:
    quantity = f"{line.quantity.normalize():,f}".replace(",", _SPACE)
    return {
        "description": breakable(line.description),
        "quantity": breakable(f"{quantity} {line.unit}" if line.unit else quantity),
        "amount": amount(Money(line.amount_minor, currency)),
    }


def _total(label: str, money: Money, *, strong: bool = False) -> dict[str, Any]:
    return {"label": label, "amount": amount(money), "strong": strong}


def _invoice_totals(invoice: Invoice) -> list[dict[str, Any]]:
    def money(minor: int) -> Money:
        return Money(minor, invoice.currency)

    retained, recovered = money(invoice.retained_minor), money(invoice.recovered_minor)
    has_deductions = bool(retained or recovered)
    return [
        *([_total("Work claimed", money(invoice.work_minor))] if has_deductions else []),
        *([_total("Less retention", -retained)] if retained else []),
        *([_total("Less recovery of the advance", -recovered)] if recovered else []),
        *_vat_totals(invoice, "charged"),
        _total("Amount payable", money(invoice.payable_minor), strong=True),
    ]


def _vat_totals(document: Invoice | CreditNote, verb: str) -> list[dict[str, Any]]:
    """Value, VAT and consideration; a non-vendor shows none of them."""
    if document.rate_percent is None:
        return []
    rate = f"{document.rate_percent.normalize():f}"
    net, vat = document.net_minor, document.vat_minor
    return [
        _total("Value excluding VAT", Money(net, document.currency)),
        _total(f"VAT {verb} at {rate} %", Money(vat, document.currency)),
        _total("Consideration including VAT", Money(net + vat, document.currency)),
    ]


def _note(label: str, words: str) -> dict[str, Any]:
    return {"label": label, "lines": [breakable(line) for line in words.splitlines()]}


def _terms_note(printed: dict[str, Any]) -> list[dict[str, Any]]:
    kind = InvoiceKind(printed.get("kind", InvoiceKind.PROGRESS))
    claims = {
        InvoiceKind.PROGRESS: "",
        InvoiceKind.ADVANCE: "Advance payment, recovered from later invoices. ",
        InvoiceKind.RETENTION_RELEASE: "Release of retention. ",
    }
    days = printed.get("payment_days")
    return [_note("Terms", f"{claims[kind]}Payable within {days} days of receipt.")]


def _bank_note(bank: Bank | None, number: str) -> dict[str, Any]:
    if bank is None:
        return _note("Bank details", _NO_BANK)
    lines = (
        f"{bank.get('holder')}, {bank.get('bankName')}",
        f"Account {bank.get('accountNumber')}, branch {bank.get('branchCode')}",
        f"Reference {number}",
    )
    return _note("Pay by EFT", "\n".join(lines))
