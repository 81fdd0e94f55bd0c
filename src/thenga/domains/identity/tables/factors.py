"""Second factors, their codes and the challenges they answer."""

from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, PersonalRow, Sealed, col, status


class FactorKind(StrEnum):
    """Kind of second factor."""

    TOTP = "totp"
    RECOVERY_CODES = "recovery_codes"


class FactorStatus(StrEnum):
    """Status of a second factor."""

    PENDING = "pending"
    ACTIVE = "active"
    DISABLED = "disabled"


class ChallengeStatus(StrEnum):
    """Status of a challenge."""

    ISSUED = "issued"
    VERIFIED = "verified"
    FAILED = "failed"
    EXPIRED = "expired"


STOP_LASTS = timedelta(days=1)  # a lost phone must not lock its owner out forever


class MfaFactor(PersonalRow, table="identity.mfa_factor", kind=Kind.PERSONAL):
    """Something the person has beside a password; `stopped_at` is an axis of its own (IDN-14)."""

    kind: Col[FactorKind] = status(FactorKind)
    label: Col[str] = col(sa.Text)
    status: Col[FactorStatus] = status(FactorStatus)
    failures: Col[int] = col(sa.BigInteger, default=0)
    stopped_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    last_used_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    expires_at: Col[datetime | None] = col(Instant, nullable=True, default=None)  # while pending
    secret_sealed: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, sealed=Sealed("totp", ("id",))
    )
    last_step: Col[int] = col(sa.BigInteger, default=-1)

    def is_stopped(self, now: datetime) -> bool:
        """Whether too many wrong codes block it; a day later it may be tried again (IDN-14)."""
        return self.stopped_at is not None and now < self.stopped_at + STOP_LASTS


class RecoveryCode(PersonalRow, table="identity.recovery_code", kind=Kind.PERSONAL):
    """One of ten codes for the day the phone is lost; kept as its hash, used once (IDN-13)."""

    factor_id: Col[UUID] = col(pg.UUID)
    code_hash: Col[bytes] = col(sa.LargeBinary, secret=True)
    used_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class MfaChallenge(PersonalRow, table="identity.mfa_challenge", kind=Kind.PERSONAL):
    """One question to one session; `factor_id` is empty where nobody can answer it (IDN-52)."""

    session_id: Col[UUID] = col(pg.UUID)
    factor_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    kind: Col[FactorKind] = status(FactorKind)
    purpose: Col[str] = col(sa.Text)
    status: Col[ChallengeStatus] = status(ChallengeStatus)
    failures: Col[int] = col(sa.BigInteger, default=0)
    expires_at: Col[datetime] = col(Instant)
