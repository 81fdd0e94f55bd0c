"""What Identity tells of people."""

from datetime import datetime
from uuid import UUID

from thenga.kernel.declare.event import Event


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


class UserDisabled(Event, type="identity.UserDisabled.v1", subject="user_id"):
    """Staff closed an account; its sessions have ended."""

    user_id: UUID
    code: str


class UserEnabled(Event, type="identity.UserEnabled.v1", subject="user_id"):
    """A disabled account is what it was before."""

    user_id: UUID


class UserLocked(Event, type="identity.UserLocked.v1", subject="user_id"):
    """Too many wrong passwords: signing in is closed for a while; open sessions go on."""

    user_id: UUID
    until: datetime
    cause: str


class AddressChanged(Event, type="identity.AddressChanged.v1", subject="user_id"):
    """A person proved another address; the old one signs nobody in any more."""

    user_id: UUID


class MfaFactorChanged(Event, type="identity.MfaFactorChanged.v1", subject="factor_id"):
    """A second factor counts now, or no longer."""

    user_id: UUID
    factor_id: UUID
    kind: str
    status: str


EVENTS = (
    UserRegistered,
    UserDisabled,
    UserEnabled,
    UserLocked,
    AddressChanged,
    SessionStarted,
    SessionRevoked,
    MfaFactorChanged,
)
