"""What a listing says."""

from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.marketplace.values.areas import Areas
from thenga.kernel.values.fields import lines, matching, text, whole
from thenga.kernel.values.money import Money
from thenga.kernel.values.shapes import Shape

UnspscCode = Annotated[str, matching("^(?:[0-9]{2}){1,4}$", 8)]


class PriceModel(StrEnum):
    """How a listing is priced."""

    ON_REQUEST = "on_request"
    FROM = "from"
    FIXED = "fixed"
    RATE = "rate"


class Pricing(Shape):
    """What it costs; a price on request has no amount."""

    model: Annotated[PriceModel, Field(description="How it is priced.")] = PriceModel.ON_REQUEST
    amount: Annotated[Money | None, Field(description="Amount; null for a price on request.")] = (
        None
    )
    unit: Annotated[
        Annotated[str, text(1, 40)] | None, Field(description="What the amount is for.")
    ] = None
    vat_included: Annotated[bool, Field(description="Whether the amount includes VAT.")] = True


class OfferRef(Shape):
    """What the listing offers in your company's profile."""

    type: Annotated[
        Literal["service", "product", "capability"], Field(description="Type of the record.")
    ]
    id: Annotated[UUID, Field(description="ID of the record.")]


class ListingContent(Shape):
    """What a listing says; contact begins with a quote request, so it names nobody (MKT-8)."""

    title: Annotated[str, text(3, 120), Field(description="Title.")]
    summary: Annotated[str, lines(1, 300), Field(description="Summary.")]
    description: Annotated[
        Annotated[str, lines(1, 8000)] | None,
        Field(description="Description, as Markdown without HTML."),
    ] = None
    category_ids: Annotated[
        list[UUID],
        Field(min_length=1, max_length=3, description="Categories; the first is primary."),
    ]
    classifications: Annotated[
        list[UnspscCode], Field(max_length=10, description="UNSPSC codes, 2 to 8 digits.")
    ] = []
    areas: Annotated[Areas, Field(description="Where it is delivered.")]
    keywords: Annotated[
        list[Annotated[str, text(2, 40)]], Field(max_length=20, description="Further search words.")
    ] = []
    language: Annotated[
        Literal["en", "af", "nso", "st", "tn", "xh", "zu"],
        Field(description="Language that it is written in."),
    ] = "en"
    offer_ref: Annotated[
        OfferRef | None, Field(description="Record of your company's profile that it offers.")
    ] = None
    capability_refs: Annotated[
        list[UUID], Field(max_length=10, description="Capabilities of your own supplier.")
    ] = []
    pricing: Annotated[Pricing, Field(description="Pricing.")] = Pricing()
    lead_time_days: Annotated[
        Annotated[int, whole(0, 730)] | None, Field(description="Days from order to delivery.")
    ] = None
    minimum_order: Annotated[
        Annotated[str, text(1, 120)] | None, Field(description="Smallest order.")
    ] = None
