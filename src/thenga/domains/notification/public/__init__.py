"""What other domains may know of Notification: the one way to ask for a message.

The domain itself does not stand yet. The port is declared where it will live, so that nobody who
asks has to change on the day it does.
"""

from abc import abstractmethod
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.kernel.declare.port import Port, idempotent

__all__ = ["Recipient", "Requests"]


class Recipient(BaseModel):
    """Who gets it: a person, and the address where it must be that one and no other."""

    model_config = ConfigDict(frozen=True)

    user_id: UUID | None = None
    address: str | None = None


class Requests(Port, name="notification.requests", timeout=2.0):
    """Takes a message on; silence means that it is asked again with the same key."""

    @idempotent
    @abstractmethod
    async def accept(
        self,
        *,
        topic_code: str,
        recipients: list[Recipient],
        facts: dict[str, str],
        sealed_facts: dict[str, str],
        key: str,
    ) -> str:
        """The request's identifier; sealed facts are kept sealed and never enter history."""
