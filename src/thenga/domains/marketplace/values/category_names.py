"""The name of a category in the official languages."""

from typing import Annotated

from pydantic import Field

from thenga.kernel.values.fields import text
from thenga.kernel.values.shapes import Shape

_Name = Annotated[str, text(2, 80)]


class CategoryNames(Shape):
    """Name of a category; English is always there."""

    en: Annotated[_Name, Field(description="English name.")]
    af: Annotated[_Name | None, Field(description="Afrikaans name.")] = None
    nso: Annotated[_Name | None, Field(description="Sepedi name.")] = None
    st: Annotated[_Name | None, Field(description="Sesotho name.")] = None
    tn: Annotated[_Name | None, Field(description="Setswana name.")] = None
    xh: Annotated[_Name | None, Field(description="isiXhosa name.")] = None
    zu: Annotated[_Name | None, Field(description="isiZulu name.")] = None
