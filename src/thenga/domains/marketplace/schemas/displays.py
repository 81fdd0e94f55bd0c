"""The body of a recommendation display."""

from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.marketplace.tables.support import DisplaySurface
from thenga.domains.marketplace.values.displays import DisplayItem, DisplaySignal
from thenga.kernel.http.bodies import Body

DisplayId = Annotated[UUID, Path(alias="displayId", description="ID of the display.")]
Surface = Annotated[DisplaySurface, Field(description="Where it was shown.")]
Signals = Annotated[
    list[DisplaySignal],
    Field(max_length=20, description="Signals from outside that were shown beside the items."),
]


class RecordDisplay(Body):
    """What a person was shown."""

    surface: Surface
    items: Annotated[
        list[DisplayItem], Field(min_length=1, max_length=50, description="Items, in any order.")
    ]
    signals: Signals = []
