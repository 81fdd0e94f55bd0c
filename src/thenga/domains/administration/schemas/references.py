"""References to resources of other domains."""

from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import matching


class ReferenceBody(Body):
    """A resource of another domain."""

    domain: Annotated[
        str, matching("^[a-z]{1,40}$", 40), Field(description="Domain that owns the resource.")
    ]
    type: Annotated[
        str, matching("^[a-z][A-Za-z]{0,59}$", 60), Field(description="Type of the resource.")
    ]
    id: Annotated[UUID, Field(description="ID of the resource.")]


class ReferenceView(View):
    """A resource of another domain."""

    domain: Annotated[str, Field(description="Domain that owns the resource.")]
    type: Annotated[str, Field(description="Type of the resource.")]
    id: Annotated[UUID, Field(description="ID of the resource.")]


def stored(references: Iterable[ReferenceBody]) -> list[dict[str, Any]]:
    """The references as the row keeps them."""
    return [one.model_dump(mode="json") for one in references]
