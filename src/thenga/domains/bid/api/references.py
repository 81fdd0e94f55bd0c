"""References to resources of other domains."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import matching


class BidReferenceBody(Body):
    """Reference to a resource."""

    domain: Annotated[
        str, matching("^[a-z]{1,40}$", 40), Field(description="Domain of the resource.")
    ]
    type: Annotated[
        str, matching("^[a-z][A-Za-z]{0,59}$", 60), Field(description="Type of the resource.")
    ]
    id: Annotated[UUID, Field(description="ID of the resource.")]


class BidReferenceView(View):
    """Reference to a resource."""

    domain: Annotated[str, Field(description="Domain of the resource.")]
    type: Annotated[str, Field(description="Type of the resource.")]
    id: Annotated[UUID, Field(description="ID of the resource.")]
