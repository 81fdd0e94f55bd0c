"""A reference to something that another domain owns; its facts are never copied."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.kernel.values.fields import matching
from thenga.kernel.values.shapes import Shape


class Reference(Shape):
    """One resource of a domain."""

    domain: Annotated[
        str,
        matching("^[a-z]+$", 40),
        Field(description="Domain that has the resource."),
    ]
    type: Annotated[
        str,
        matching("^[a-z][A-Za-z]*$", 60),
        Field(description="Type of the resource, for example `listing`."),
    ]
    id: UUID
