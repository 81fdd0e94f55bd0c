"""What other domains may know of Identity: its events, its ports and their values."""

from abc import abstractmethod
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.kernel.events.event import Event
from thenga.kernel.gate import Gate, Passage, Refusal
from thenga.kernel.ports.port import Port


class UserRegistered(Event, type="identity.UserRegistered.v1", subject="user_id"):
    """A person proved an address and has an account now."""

    user_id: UUID


class SessionStarted(Event, type="identity.SessionStarted.v1", subject="session_id"):
    """A person signed in."""

    session_id: UUID
    user_id: UUID
    kind: str
    assurance: str
    methods: list[str]


class SessionRevoked(Event, type="identity.SessionRevoked.v1", subject="session_id"):
    """A session was ended before its time; every later check denies."""

    session_id: UUID
    user_id: UUID
    cause: str
    by: UUID | None


class MembershipChanged(Event, type="identity.MembershipChanged.v1", subject="membership_id"):
    """Somebody belongs to an organization, or no longer does."""

    organization_id: UUID
    membership_id: UUID
    user_id: UUID
    status: str
    previous_status: str | None
    role_codes: list[str]


class RoleAssignmentChanged(
    Event, type="identity.RoleAssignmentChanged.v1", subject="role_assignment_id"
):
    """A member was given a role, or it ended."""

    organization_id: UUID
    role_assignment_id: UUID
    membership_id: UUID
    role_code: str
    status: str
    valid_to: datetime | None


EVENTS = (UserRegistered, SessionStarted, SessionRevoked, MembershipChanged, RoleAssignmentChanged)


class ActorRef(BaseModel):
    """About whom a decision is asked."""

    model_config = ConfigDict(frozen=True)

    type: Literal["user", "api_key", "service", "platform"]
    id: UUID
    session_id: UUID | None = None


class ResourceRef(BaseModel):
    """On what; `parents` are the resources it hangs under."""

    model_config = ConfigDict(frozen=True)

    type: str
    id: str | None = None
    parents: list[str] = []


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
    ) -> Decision: ...
