"""What a proof of who one is leads to."""

from dataclasses import dataclass
from datetime import datetime

from thenga.domains.identity.services.sessions import TokenPair
from thenga.domains.identity.tables import MfaFactor, Session


@dataclass(frozen=True)
class SignedIn:
    """Signed in; `device_token` is there where the device was not known before."""

    session: Session
    pair: TokenPair
    device_token: str | None = None


@dataclass(frozen=True)
class HalfSignedIn:
    """The password was right, and a second factor is still to be shown."""

    session: Session
    pending_token: str
    expires_at: datetime
    factors: list[MfaFactor]
