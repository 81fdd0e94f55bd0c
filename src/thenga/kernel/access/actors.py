"""Who acts, and for whom the database is opened."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID


class ActorKind(StrEnum):
    """Kind of actor."""

    USER = "user"
    API_KEY = "api_key"
    SERVICE = "service"
    PLATFORM = "platform"
    SYSTEM = "system"  # jobs, reactions and sweeps
    NOBODY = "nobody"  # public operations before anybody is known


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: goes into audit rows, events, jobs and calls between processes."""

    kind: ActorKind
    id: UUID | None = None
    session_id: UUID | None = None
    answered_by: UUID | None = None  # the person who answers for a key

    @property
    def person_id(self) -> UUID | None:
        """The person who acts, or who answers for the key that acts; none for a service or job."""
        return self.id if self.kind is ActorKind.USER else self.answered_by


NOBODY = Actor(kind=ActorKind.NOBODY)
SYSTEM = Actor(kind=ActorKind.SYSTEM)

# The operator of the platform is an organization with a fixed identifier.
OPERATOR = UUID("019a0000-0000-7000-8000-0000000009e5")


@dataclass(slots=True)
class Scope:
    """What the transaction is opened for: the four settings that row security compares."""

    actor: Actor
    organization_id: UUID | None = None
    user_id: UUID | None = None
    presented: bytes | None = None
    platform: bool = False
    clock_offset: timedelta = timedelta(0)

    def opening(self) -> str:
        """The statement that begins a transaction in this scope.

        Only the hexadecimal digits of UUIDs and hashes are written into it, so it can go out in
        one round trip together with BEGIN.
        """
        organization = "" if self.organization_id is None else self.organization_id.hex
        person = "" if self.user_id is None else self.user_id.hex
        presented = "" if self.presented is None else self.presented.hex()
        return (
            f"SELECT set_config('app.organization_id', '{organization}', true), "
            f"set_config('app.user_id', '{person}', true), "
            f"set_config('app.presented', '{presented}', true), "
            f"set_config('app.platform', '{'on' if self.platform else ''}', true)"
        )
