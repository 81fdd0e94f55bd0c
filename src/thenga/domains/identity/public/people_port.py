"""Who a person is, for domains that know only the identifier."""

from abc import abstractmethod
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from thenga.kernel.declare.port import Port


class PersonCard(BaseModel):
    """What may be shown of a person, true now; whoever asks keeps none of it."""

    model_config = ConfigDict(frozen=True)

    user_id: UUID
    display_name: str
    email: str | None
    phone: str | None
    locale: str
    time_zone: str
    status: str
    organization_ids: list[UUID]


class People(Port, name="identity.people", timeout=0.5):
    """Answers who people are, many at once; whoever hears nothing shows the person as unknown."""

    @abstractmethod
    async def describe(
        self, *, user_ids: Annotated[list[UUID], Field(max_length=200)]
    ) -> list[PersonCard]: ...
