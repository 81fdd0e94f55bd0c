"""What a person was shown, with the source of each item and signal."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.kernel.values.fields import Instant, text, whole
from thenga.kernel.values.references import Reference
from thenga.kernel.values.shapes import Shape


class DisplayItem(Shape):
    """One item of the display: a listing, or something that another domain recommends."""

    listing_id: Annotated[UUID | None, Field(description="Listing. Or send `productRef`.")] = None
    product_ref: Annotated[
        Reference | None, Field(description="What another domain recommends. Or send `listingId`.")
    ] = None
    position: Annotated[int, whole(1, 1000), Field(description="Position, from 1.")]
    reason_codes: Annotated[
        list[Annotated[str, text(1, 60)]],
        Field(max_length=10, description="Why it was shown, as codes of the source."),
    ] = []
    source_ref: Annotated[
        Reference | None, Field(description="What recommended the item. Required.")
    ] = None


class DisplayedItem(DisplayItem):
    """One item as it is recorded."""

    sponsored: Annotated[
        bool, Field(description="Whether somebody paid for the position. Set by the server.")
    ] = False


class SignalSource(Shape):
    """Who states a signal."""

    name: Annotated[str, text(1, 160), Field(description="Name of the source.")]
    reference: Annotated[str, text(1, 500), Field(description="Where the source states it.")]
    retrieved_at: Annotated[Instant, Field(description="Time at which it was read there.")]


class DisplaySignal(Shape):
    """Something from outside that was shown beside the items."""

    code: Annotated[str, text(1, 60), Field(description="What the signal is about.")]
    value: Annotated[str, text(1, 200), Field(description="What the source states.")]
    source: Annotated[SignalSource | None, Field(description="Who states it. Required.")] = None
