"""Whom a customer asks for a quote."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.kernel.values.fields import lines
from thenga.kernel.values.shapes import Shape


class QuoteRecipientChoice(Shape):
    """A supplier, or the listing that the customer found; only the customer reads this."""

    listing_id: Annotated[
        UUID | None, Field(description="Listing whose provider is asked. Or send `supplierId`.")
    ] = None
    supplier_id: Annotated[
        UUID | None,
        Field(
            description="Supplier to ask. Or send `listingId`. A supplier without an account here "
            "is not contacted."
        ),
    ] = None
    override_reason: Annotated[
        Annotated[str, lines(1, 2000)] | None,
        Field(description="Why you ask a supplier that is blocked from quote requests."),
    ] = None
