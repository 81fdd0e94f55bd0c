"""The text of a printed document: all fields of a full tax invoice, whatever the amount (BIL-26).

The input is values and the output is text; `typeset` renders it.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any

import segno

from thenga.domains.billing.tables import (
    Book,
    CreditNote,
    CreditNoteLine,
    CreditReason,
    Edition,
    Invoice,
    InvoiceLine,
)
from thenga.kernel.values.money import Money

Sheet = dict[str, Any]
_SPACE = "\u00a0"
_LONGEST = 20  # characters of a word without a break
_WORD = re.compile(rf"\S{{{_LONGEST + 1},}}")
_WHY = {
    CreditReason.PLAN_CHANGE: "Plan change",
    CreditReason.CANCELLATION: "Cancellation",
    CreditReason.UNDELIVERED: "Service not provided",
    CreditReason.ERROR: "Correction of an error",
    CreditReason.GOODWILL: "Goodwill",
}
_COLUMNS = ("Description", "Quantity", "Unit price incl. VAT", "Amount incl. VAT")
_CHARGED = ("Value excluding VAT", "VAT", "Total")
_REDUCED = ("Reduction in value excluding VAT", "Reduction in VAT", "Total credited")
_UNTAXED = ("Description", "Quantity", "Unit price", "Amount")


def amount(money: Money) -> str:
    """`R 1 499.00`, with non-breaking spaces and a leading minus."""
    sign = f"\u2212{_SPACE}" if money.minor < 0 else ""
    return f"{sign}R{_SPACE}{_grouped(abs(Decimal(money.amount)))}"


def _grouped(number: Decimal) -> str:
    return f"{number:,f}".replace(",", _SPACE)


def unit_price(price: Decimal) -> str:
    """At least two decimal places, and more if it has them."""
    plain = price.normalize()
    places = max(2, -int(plain.as_tuple().exponent))
    return f"R{_SPACE}{_grouped(plain.quantize(Decimal(1).scaleb(-places)))}"


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


def of_invoice(
    invoice: Invoice, lines: Sequence[InvoiceLine], *, edition: Edition, pay_link: str
) -> Sheet:
    """An invoice as issued, whatever happened since (BIL-28)."""
    due = (invoice.at_issue or {}).get("amount_due", 0)
    # A specimen is not paid, so it has no payment details (BIL-29).
    is_due = due > 0 and invoice.book is Book.LIVE
    facts = [
        ("Invoice number", invoice.number),
        ("Date of issue", day(invoice.issue_date)),
        ("Date of supply", day(invoice.supply_date)),
        ("Due date", day(invoice.due_date)),
        ("Your order number", breakable(invoice.order_number or "")),
    ]
    return _sheet(invoice, invoice.title, facts, edition) | {
        "columns": _UNTAXED if invoice.rate_pct is None else _COLUMNS,
        "lines": [_line(line, invoice.currency) for line in lines],
        "totals": [*_totals(invoice, _CHARGED), *_settled(invoice)],
        "notes": [_bank(invoice)] if is_due else [],
        "pay": _pay(pay_link) if is_due else None,
    }


def of_credit_note(note: CreditNote, lines: Sequence[CreditNoteLine], *, edition: Edition) -> Sheet:
    """An issued credit note: the credited amount and VAT, the reason and its invoice."""
    facts = [
        ("Credit note number", note.number),
        ("Date of issue", day(note.issue_date)),
        ("Tax invoice credited" if note.rate_pct else "Invoice credited", note.invoice_number),
        ("Date of that invoice", day(note.invoice_date)),
    ]
    why = [_WHY[note.reason_code], breakable(note.explanation)]
    return _sheet(note, "Credit Note", facts, edition) | {
        "columns": _UNTAXED if note.rate_pct is None else _COLUMNS,
        "lines": [_credited(line, note.currency) for line in lines],
        "totals": _totals(note, _REDUCED),
        "notes": [{"label": "Reason for this credit note", "lines": why}],
        "pay": None,
    }


def _sheet(
    document: Invoice | CreditNote,
    heading: str,
    facts: list[tuple[str, str | None]],
    edition: Edition,
) -> Sheet:
    seller = document.seller or {}
    registered = seller.get("registration_number")
    by = f"{seller.get('legal_name')}, registration number {registered}"
    return {
        "heading": heading,
        "number": document.number,
        "copy": edition is Edition.COPY,
        "specimen": document.book is Book.SANDBOX,
        "seller": _party(seller, ""),
        "recipient": _party(document.recipient, "Billed to"),
        "facts": [fact for fact in facts if fact[1]],
        "footer": breakable(by if registered else seller.get("legal_name") or ""),
    }


def _party(who: dict[str, Any], label: str) -> dict[str, Any]:
    address = who.get("address") or {}
    place = (address.get("city"), address.get("postal_code"))
    town = " ".join(part for part in place if part)
    country = "South Africa" if address else None
    parts = [address.get("line1"), address.get("line2"), town, address.get("province"), country]
    vat, registered = who.get("vat_number"), who.get("registration_number")
    trading = who.get("trading_name")
    return {
        "label": label,
        "name": breakable(who.get("legal_name") or ""),
        "lines": [
            *(
                [breakable(f"trading as {trading}")]
                if trading and trading != who.get("legal_name")
                else []
            ),
            *(breakable(part) for part in parts if part),
            *([f"Registration number {registered}"] if registered and label else []),
            *([f"VAT number {vat}"] if vat else []),
        ],
    }


def _line(line: InvoiceLine, currency: str) -> dict[str, str]:
    served = ""
    if line.service_from is not None and line.service_to is not None:
        served = f"{day(line.service_from)} to {day(line.service_to - timedelta(days=1))}"
    return {
        "description": breakable(line.description),
        "detail": served,
        "quantity": _grouped(Decimal(line.quantity)),
        "unit": unit_price(line.unit_price),
        "amount": amount(Money(line.gross_minor, currency)),
    }


def _credited(line: CreditNoteLine, currency: str) -> dict[str, str]:
    given = amount(Money(line.gross_minor, currency))
    return {
        "description": breakable(line.description),
        "detail": "",
        "quantity": "1",
        "unit": given,
        "amount": given,
    }


def _total(label: str, money: Money, *, strong: bool = False) -> dict[str, Any]:
    return {"label": label, "amount": amount(money), "strong": strong}


def _totals(document: Invoice | CreditNote, labels: Sequence[str]) -> list[dict[str, Any]]:
    net, vat, total = labels
    currency = document.currency
    gross = _total(total, Money(document.gross_minor, currency), strong=True)
    if document.rate_pct is None:
        return [gross]
    rate = f"{document.rate_pct.normalize():f}"
    return [
        _total(net, Money(document.net_minor, currency)),
        _total(f"{vat} at {rate} %", Money(document.vat_minor, currency)),
        gross,
    ]


def _settled(invoice: Invoice) -> list[dict[str, Any]]:
    """The amounts paid and due at issue."""
    at_issue = invoice.at_issue or {}
    credit, paid, due = (
        Money(at_issue.get(name, 0), invoice.currency)
        for name in ("credit_applied", "amount_paid", "amount_due")
    )
    return [
        *([_total("Paid from credit", -credit)] if credit else []),
        *([_total("Paid", -paid)] if paid else []),
        _total("Amount due", due, strong=True),
    ]


def _bank(invoice: Invoice) -> dict[str, Any]:
    bank = (invoice.seller or {}).get("bank") or {}
    return {
        "label": "Pay by EFT",
        "lines": [
            breakable(f"{bank.get('account_name')}, {bank.get('bank_name')}"),
            f"Account {bank.get('account_number')}, branch {bank.get('branch_code')}",
            f"Reference {invoice.number}",
        ],
    }


def _pay(link: str) -> dict[str, str]:
    drawn = BytesIO()
    segno.make(link, error="m").save(drawn, kind="svg", border=2, xmldecl=False, svgns=True)
    return {"svg": drawn.getvalue().decode(), "label": "Scan to pay", "link": link}
