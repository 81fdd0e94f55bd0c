"""The question every entrance asks, and its answer."""

from abc import abstractmethod
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from thenga.kernel.access.gate import Gate, Passage, Refusal
from thenga.kernel.declare.port import Port


class ActorRef(BaseModel):
    """About whom a decision is asked; of a key and of a person `id` is their own.

    A person without a session is somebody for whom something is done later (IDN-34).
    """

    model_config = ConfigDict(frozen=True)

    type: Literal["user", "api_key", "service", "platform"]
    id: UUID
    session_id: UUID | None = None


class ResourceRef(BaseModel):
    """On what; `parents` are the resources it hangs under, as `domain.type/id`."""

    model_config = ConfigDict(frozen=True)

    type: str
    id: str | None = None
    parents: list[str] = []


class AgentRef(BaseModel):
    """The machine that acts for the person; it has that person's rights and no others."""

    model_config = ConfigDict(frozen=True)

    agent_id: str
    version: str


class Question(BaseModel):
    """May this actor do this, in this tenant, on this resource, in this context? (IDN-27)"""

    model_config = ConfigDict(frozen=True)

    actor: ActorRef
    organization_id: UUID | None
    action: str
    resource: ResourceRef
    channel: str
    request_id: str
    network: str | None = None
    amount: int | None = None
    agent: AgentRef | None = None


class Decision(BaseModel):
    """Allow or deny, true now and nowhere kept (IDN-28)."""

    model_config = ConfigDict(frozen=True)

    decision: Literal["allow", "deny"]
    decision_id: UUID
    reason_code: str
    obligations: list[dict[str, Any]] = []
    policy_version: str
    entitlement: dict[str, Any] | None = None
    remedy: dict[str, Any] | None = None
    decided_at: datetime


class Decisions(Port, Gate, name="identity.decisions", timeout=1.0):
    """May this actor do this, in this tenant, on this resource, now? Silence means no."""

    @abstractmethod
    async def enter(
        self,
        *,
        credential: str | None,
        organization_id: UUID | None,
        permission: str,
        network: str,
        request_id: str,
    ) -> Passage | Refusal: ...

    @abstractmethod
    async def check(
        self,
        *,
        actor: ActorRef,
        organization_id: UUID | None,
        action: str,
        resource: ResourceRef,
        channel: str,
        request_id: str,
        network: str | None = None,
        amount: int | None = None,
        agent: AgentRef | None = None,
    ) -> Decision: ...

    @abstractmethod
    async def check_many(
        self, *, questions: Annotated[list[Question], Field(max_length=100)]
    ) -> list[Decision]: ...
