"""What invoices and credit notes have in common on the wire."""

from base64 import b64encode
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Response
from pydantic import Field

from thenga.domains.billing.api.accounts import AddressView, BillToView
from thenga.domains.billing.tables import CreditNote, DocumentPdf, Invoice
from thenga.kernel.http.bodies import View
from thenga.kernel.values.fields import Day
from thenga.kernel.values.money import Money

Copy = Annotated[bool, Query(description="A further print, which says that it is a copy.")]
IssuedFrom = Annotated[Day | None, Query(alias="issuedFrom", description="Issued on it or later.")]
IssuedTo = Annotated[Day | None, Query(alias="issuedTo", description="Issued on it or before.")]

# The answers of a print; the first is no JSON, so no test can record it as an example.
PRINTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The document, as an attachment; the same bytes for ever.",
        "content": {
            "application/pdf": {
                "schema": {"type": "string", "format": "binary"},
                "example": "%PDF-1.7 …",
            }
        },
    },
    202: {
        "description": "It is being typeset; ask again after `Retry-After` seconds.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["status"],
                    "properties": {"status": {"const": "rendering"}},
                },
                "example": {"status": "rendering"},
            }
        },
    },
}


class BankView(View):
    bank_name: str
    account_name: str
    account_number: str
    branch_code: str


class SellerView(View):
    """Who sells, as the document says it."""

    legal_name: str
    trading_name: str
    registration_number: str | None
    vat_number: str | None
    address: AddressView
    bank: BankView


class RecipientView(BillToView):
    """Who is billed, as the document says it."""


class TaxLineView(View):
    rate_pct: Annotated[Decimal, Field(description="In per cent.")]
    gross: Annotated[Money, Field(description="What this rate is on, VAT included.")]
    net: Annotated[Money, Field(description="Without VAT.")]
    vat: Annotated[Money, Field(description="The VAT that is in `gross`.")]


class PdfView(View):
    """The original print; `readyAt` is when it was made."""

    sha256: Annotated[str, Field(description="Of its bytes, in hex.")]
    bytes: Annotated[int, Field(description="How many it has.")]
    ready_at: datetime
    replaced: Annotated[
        list[str],
        Field(
            description="Characters that our fonts cannot draw, as `U+1F600`; each is printed as "
            "the replacement character U+FFFD. The fields of the document keep them."
        ),
    ] = []


def amounts(document: Invoice | CreditNote) -> dict[str, Any]:
    """The sums that both kinds of document have."""
    taxed = {
        name: Money(getattr(document, f"{name}_minor"), document.currency)
        for name in ("gross", "net", "vat")
    }
    rate = document.rate_pct
    lines = [] if rate is None else [TaxLineView(rate_pct=rate, **taxed)]
    return taxed | {"tax_lines": lines}


def parties(document: Invoice | CreditNote) -> dict[str, Any]:
    """Who is printed; the seller of a draft is known at the issue."""
    return {
        "seller": document.seller and SellerView.model_validate(document.seller),
        "recipient": RecipientView.model_validate(document.recipient),
        "pdf": document.pdf and PdfView.model_validate(document.pdf),
    }


def printed(document_id: UUID, number: str | None, found: DocumentPdf | None) -> Response:
    """The file itself, or that it is on its way."""
    if found is None:
        waiting = {"Retry-After": "2"}
        return Response(b'{"status":"rendering"}', 202, waiting, media_type="application/json")
    name = f"{number or document_id}.pdf"
    digest = b64encode(sha256(found.content).digest()).decode()
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Digest": f"sha-256=:{digest}:",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(found.content, 200, headers, media_type="application/pdf")
