"""What Identity tells of members and their rights, and what may be asked about them."""

from abc import abstractmethod
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent


class ScopeRef(BaseModel):
    """The one resource that a right is limited to; its absence is the whole organization."""

    model_config = ConfigDict(frozen=True)

    domain: str
    type: str
    id: str


class MembershipChanged(Event, type="identity.MembershipChanged.v1", subject="membership_id"):
    """Somebody belongs to an organization, or no longer does."""

    organization_id: UUID
    membership_id: UUID
    user_id: UUID
    status: str
    previous_status: str | None
    role_codes: list[str]
    seats_used: int


class InvitationSent(Event, type="identity.InvitationSent.v1", subject="invitation_id"):
    """The letter of an invitation was handed over; once for each letter."""

    organization_id: UUID
    invitation_id: UUID
    expires_at: datetime
    seats_used: int


class InvitationAccepted(Event, type="identity.InvitationAccepted.v1", subject="invitation_id"):
    """Whoever was invited belongs to the organization now."""

    organization_id: UUID
    invitation_id: UUID
    user_id: UUID
    membership_id: UUID
    seats_used: int


class InvitationEnded(Event, type="identity.InvitationEnded.v1", subject="invitation_id"):
    """An invitation was declined or revoked, or its time is over."""

    organization_id: UUID
    invitation_id: UUID
    outcome: str
    seats_used: int


class RoleChanged(Event, type="identity.RoleChanged.v1", subject="role_id"):
    """A custom role was made, moved on, or holds other permissions."""

    organization_id: UUID
    role_id: UUID
    status: str
    added: list[str]
    removed: list[str]


class RoleAssignmentChanged(
    Event, type="identity.RoleAssignmentChanged.v1", subject="role_assignment_id"
):
    """A member, or one of staff, was given a role, or it ended.

    A platform role names the person and no organization, any other the membership.
    """

    organization_id: UUID | None
    role_assignment_id: UUID
    membership_id: UUID | None
    user_id: UUID | None
    role_code: str
    scope: ScopeRef | None
    status: str
    valid_to: datetime | None


class PermissionAssignmentChanged(
    Event, type="identity.PermissionAssignmentChanged.v1", subject="permission_assignment_id"
):
    """One permission was given or denied to a member or to a role, or that ended."""

    organization_id: UUID
    permission_assignment_id: UUID
    membership_id: UUID | None
    role_id: UUID | None
    permission: str
    effect: str
    scope: ScopeRef | None
    status: str
    valid_to: datetime | None


class Belonging(BaseModel):
    """What `Memberships.ensure` came to: a membership, or an invitation that waits."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["membership", "invitation"]
    id: UUID
    status: str


class Members(Port, name="identity.members", timeout=0.5):
    """Who in an organization, or of staff, may do something. Silence means nobody; ask again.

    People are told in the order of their ids, at most 200; `after` is the last one told before.
    """

    @abstractmethod
    async def holding(
        self,
        *,
        organization_id: UUID,
        permission: str | None = None,
        role_code: str | None = None,
        limit: int = 200,
        after: UUID | None = None,
    ) -> list[UUID]: ...

    @abstractmethod
    async def staff_holding(
        self,
        *,
        permission: str | None = None,
        role_code: str | None = None,
        user_ids: list[UUID] | None = None,
        limit: int = 200,
        after: UUID | None = None,
    ) -> list[UUID]:
        """Staff who may do something by a platform role; of those named, if some are."""


class Memberships(Port, name="identity.memberships", timeout=1.0):
    """Have a person belong to an organization. Keep the question and repeat it after silence."""

    @idempotent
    @abstractmethod
    async def ensure(
        self,
        *,
        organization_id: UUID,
        email: str | None,
        user_id: UUID | None,
        role_codes: list[str],
        requested_by: UUID,
        key: str,
    ) -> Belonging: ...


EVENTS = (
    MembershipChanged,
    InvitationSent,
    InvitationAccepted,
    InvitationEnded,
    RoleChanged,
    RoleAssignmentChanged,
    PermissionAssignmentChanged,
)
