"""A reference to something that another domain owns; its facts are never copied."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class Reference(BaseModel):
    """One resource of a domain."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z]+$", max_length=40),
        Field(description="Domain that has the resource."),
    ]
    type: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z][A-Za-z]*$", max_length=60),
        Field(description="Type of the resource, for example `listing`."),
    ]
    id: UUID
