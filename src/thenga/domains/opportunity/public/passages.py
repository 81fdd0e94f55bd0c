"""The words of tenders, as Intelligence may read them."""

from abc import abstractmethod
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.kernel.declare.port import Port

_VALUE = ConfigDict(frozen=True)


class PassageRef(BaseModel):
    """A text: the notice of a tender, or one page of a document of it."""

    model_config = _VALUE

    type: Literal["tenderOpportunity", "tenderDocument"]
    id: UUID
    page: int | None = None


class Passage(BaseModel):
    """The text that a reference names, at most 20,000 bytes of it."""

    model_config = _VALUE

    ref: PassageRef
    version: int
    page: int | None
    text: str
    sensitivity: Literal["public"] = "public"


class Passages(Port, name="opportunity.passages", timeout=1.0):
    """Texts of tenders that an organization may see. Silence is a gap."""

    @abstractmethod
    async def read(
        self,
        *,
        refs: list[PassageRef],
        organization_id: UUID,
        on_behalf_of: UUID | None = None,
    ) -> list[Passage]:
        """The passages of at most 20 references; what the organization cannot see is left out."""
