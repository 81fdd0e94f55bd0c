"""What a quote is asked for: written by the customer, frozen for each recipient when it is sent."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Literal

import rfc8785
from pydantic import BaseModel, Field

from thenga.domains.marketplace.public import DeliveryPlace, QuoteRequestLine
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.fields import by_rule, lines, text, whole
from thenga.kernel.values.references import Reference
from thenga.kernel.values.shapes import Shape, as_document

MOST_BYTES = 128 * 1024


def _distinct(asked: Sequence[QuoteRequestLine]) -> Sequence[QuoteRequestLine]:
    if len({line.key for line in asked}) < len(asked):
        raise RuleViolated("Give each line a key of its own.", rule="MKT-26")
    return asked


Title = Annotated[str, text(1, 160), Field(description="What is needed, in one line.")]
Lines = Annotated[
    list[QuoteRequestLine],
    by_rule(_distinct),
    Field(min_length=1, max_length=500, description="Lines to quote for."),
]
DeliverTo = Annotated[DeliveryPlace | None, Field(description="Where it is to be delivered.")]
Currency = Annotated[Literal["ZAR"], Field(description="Currency of the quotes.")]
MinValidityDays = Annotated[
    int, whole(1, 365), Field(description="Days that a quote has to stay valid.")
]
Terms = Annotated[
    Annotated[str, lines(1, 2000)] | None, Field(description="Terms that apply to the quotes.")
]
DocumentRefs = Annotated[
    list[Reference],
    Field(
        max_length=20,
        description="Documents that belong to the request. Recipients see the reference, not the "
        "file. Put what matters in the lines.",
    ),
]


class QuoteContentFields(BaseModel):
    """What the customer and every recipient read of a quote request."""

    title: Title
    lines: Lines
    deliver_to: DeliverTo = None
    currency: Currency = "ZAR"
    min_validity_days: MinValidityDays = 30
    terms: Terms = None
    document_refs: DocumentRefs = []


class QuoteContent(QuoteContentFields, Shape):
    """The content as it was sent; a quote is for exactly this."""

    @property
    def document(self) -> bytes:
        """The content as it is stored and hashed."""
        return rfc8785.dumps(as_document(self))

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.document).hexdigest()


def check_size(content: QuoteContent) -> None:
    """Every recipient gets a copy and reads it at once, so its size is bounded."""
    if len(content.document) > MOST_BYTES:
        raise RuleViolated(
            "The content is larger than 128 KB. Shorten lines, send fewer specification "
            "references, or split the request.",
            rule="MKT-26",
            field="/lines",
        )
