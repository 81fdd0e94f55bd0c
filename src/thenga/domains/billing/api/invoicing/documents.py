"""Fields and answers that invoices and credit notes share."""

from base64 import b64encode
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Response
from pydantic import Field

from thenga.domains.billing.api.accounts.bill_to import AddressView, BillToView
from thenga.domains.billing.tables import CreditNote, DocumentPdf, Invoice
from thenga.kernel.http.bodies import View
from thenga.kernel.values.fields import Day
from thenga.kernel.values.money import Money

Copy = Annotated[bool, Query(description='Whether to print it as a copy, marked "Copy".')]
IssuedFrom = Annotated[
    Day | None, Query(alias="issuedFrom", description="Issued on or after this day.")
]
IssuedTo = Annotated[
    Day | None, Query(alias="issuedTo", description="Issued on or before this day.")
]

# The answers of a print; the first is no JSON, so no test can record it as an example.
PRINTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The PDF as an attachment. Every download returns the same bytes.",
        "content": {
            "application/pdf": {
                "schema": {"type": "string", "format": "binary"},
                "example": "%PDF-1.7 …",
            }
        },
    },
    202: {
        "description": "The PDF is being rendered. Try again after `Retry-After` seconds.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["status"],
                    "properties": {
                        "status": {"const": "rendering", "description": "Always `rendering`."}
                    },
                },
                "example": {"status": "rendering"},
            }
        },
    },
}


class BankView(View):
    """The seller's bank account."""

    bank_name: Annotated[str, Field(description="Name of the bank.")]
    account_name: Annotated[str, Field(description="Name of the account holder.")]
    account_number: Annotated[str, Field(description="Account number.")]
    branch_code: Annotated[str, Field(description="Branch code.")]


class SellerView(View):
    """The seller, as printed on the document."""

    legal_name: Annotated[str, Field(description="Registered name of the seller.")]
    trading_name: Annotated[str, Field(description="Name the seller trades under.")]
    registration_number: Annotated[str | None, Field(description="Company registration number.")]
    vat_number: Annotated[
        str | None, Field(description="VAT number. Null if the seller is not registered for VAT.")
    ]
    address: Annotated[AddressView, Field(description="Postal address.")]
    bank: Annotated[BankView, Field(description="Bank account for transfers.")]


class RecipientView(BillToView):
    """The recipient, as printed on the document."""


class TaxLineView(View):
    """Totals for one VAT rate."""

    rate_pct: Annotated[Decimal, Field(description="VAT rate in per cent.")]
    gross: Annotated[Money, Field(description="Total at this rate, VAT included.")]
    net: Annotated[Money, Field(description="Total without VAT.")]
    vat: Annotated[Money, Field(description="VAT included in `gross`.")]


class PdfView(View):
    """The original PDF of a document."""

    sha256: Annotated[str, Field(description="SHA-256 of the file, in hex.")]
    bytes: Annotated[int, Field(description="Size in bytes.")]
    ready_at: Annotated[datetime, Field(description="When it was rendered.")]
    replaced: Annotated[
        list[str],
        Field(
            description="Characters our fonts cannot draw, for example `U+1F600`. Each is "
            "printed as U+FFFD; the document's fields keep the original."
        ),
    ] = []


def amounts(document: Invoice | CreditNote) -> dict[str, Any]:
    """The totals that both kinds of document have."""
    taxed = {
        name: Money(getattr(document, f"{name}_minor"), document.currency)
        for name in ("gross", "net", "vat")
    }
    rate = document.rate_pct
    lines = [] if rate is None else [TaxLineView(rate_pct=rate, **taxed)]
    return taxed | {"tax_lines": lines}


def parties(document: Invoice | CreditNote) -> dict[str, Any]:
    """Seller and recipient as printed. A draft has no seller yet."""
    return {
        "seller": document.seller and SellerView.model_validate(document.seller),
        "recipient": RecipientView.model_validate(document.recipient),
        "pdf": document.pdf and PdfView.model_validate(document.pdf),
    }


def printed(document_id: UUID, number: str | None, found: DocumentPdf | None) -> Response:
    """The file, or 202 while it is being rendered."""
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
