"""Where something is delivered."""

from typing import Annotated

from pydantic import Field

from thenga.kernel.values.places import MunicipalityCode, Province
from thenga.kernel.values.shapes import Shape


class Areas(Shape):
    """Where a listing applies: everywhere, or the provinces and municipalities named."""

    national: Annotated[bool, Field(description="Whether it applies in all provinces.")] = False
    provinces: Annotated[list[Province], Field(max_length=9, description="Provinces.")] = []
    municipalities: Annotated[
        list[MunicipalityCode],
        Field(max_length=60, description="Municipal Demarcation Board codes."),
    ] = []
