"""Fields and the body of capabilities."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import lines, text


class CapabilityFields(BaseModel):
    """What a supplier says it can deliver."""

    title: Annotated[str, text(1, 120), Field(description="What it can deliver, in one line.")]
    description: Annotated[
        Annotated[str, lines(1, 2000)] | None, Field(description="Description.")
    ] = None
    category_ids: Annotated[
        list[UUID], Field(min_length=1, max_length=5, description="Marketplace categories.")
    ]
    organization_capability_id: Annotated[
        UUID | None,
        Field(description="Capability in the company's profile whose verification counts."),
    ] = None
    withdrawn: Annotated[bool, Field(description="Whether it is no longer offered.")] = False


class DeclareCapability(CapabilityFields, Body):
    """A capability. Send the same title again to change, withdraw or restore it."""
