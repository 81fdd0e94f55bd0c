"""People, their addresses and what was sent to them."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, PersonalRow, Row, Sealed, TenantRow, col, status

Hash = sa.LargeBinary


class UserStatus(StrEnum):
    """Status of an account."""

    PENDING_VERIFICATION = "pending_verification"
    ACTIVE = "active"
    DISABLED = "disabled"
    ERASED = "erased"


class UserAccount(PersonalRow, table="identity.user_account", kind=Kind.PERSONAL):
    """A person; `user_id` is the row's own identifier."""

    email: Col[str] = col(sa.Text, secret=True)
    display_name: Col[str] = col(sa.Text, secret=True)
    locale: Col[str] = col(sa.Text)
    time_zone: Col[str] = col(sa.Text)
    status: Col[UserStatus] = status(UserStatus)
    staff: Col[bool] = col(sa.Boolean, default=False)
    email_verified_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    last_sign_in_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    phone: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    active_organization_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    locked_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    lock_cause: Col[str | None] = col(sa.Text, nullable=True, default=None)
    factor_kinds: Col[list[str]] = col(pg.ARRAY(sa.Text), default=())  # the active ones
    status_reason_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_reason_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class AccountCard(TenantRow, table="identity.account_card", kind=Kind.TWO_PARTY, told=False):
    """What staff find an account by; written from the person's side with every change."""

    user_id: Col[UUID] = col(pg.UUID)
    account_key: Col[bytes] = col(Hash, secret=True)
    email: Col[str] = col(sa.Text, secret=True)
    display_name: Col[str] = col(sa.Text, secret=True)
    status: Col[str] = col(sa.Text)
    staff: Col[bool] = col(sa.Boolean)
    email_verified_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    locked_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    last_sign_in_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class SignInName(Row, table="identity.sign_in_name", kind=Kind.BEARER, key=("hash",)):
    """An address as an account key; the only way from an address to a person."""

    hash: Col[bytes] = col(Hash)
    user_id: Col[UUID] = col(pg.UUID)
    ended_at: Col[datetime | None] = col(
        Instant, nullable=True, default=None
    )  # the person has another address now; this one is free again


class SignInCounter(Row, table="identity.sign_in_counter", kind=Kind.BEARER, key=("hash",)):
    """Failed proofs of an account key, known or not, or of one device of a person (IDN-7)."""

    hash: Col[bytes] = col(Hash)
    failures: Col[int] = col(sa.BigInteger)
    window_from: Col[datetime] = col(Instant)
    level: Col[int] = col(sa.BigInteger)
    locked_until: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Password(PersonalRow, table="identity.password", kind=Kind.PERSONAL):
    """What a password was hashed to."""

    phc: Col[str] = col(sa.Text, secret=True)


class OneTimeLink(Row, table="identity.one_time_link", kind=Kind.BEARER, key=("hash",)):
    """A link sent to an address; its text is sealed here only until it was handed over.

    `user_id` is the person it is for; of an invitation, which may go to nobody known, who sent it.
    """

    hash: Col[bytes] = col(Hash)
    purpose: Col[str] = col(sa.Text)
    account_key: Col[bytes] = col(Hash)
    user_id: Col[UUID] = col(pg.UUID)
    organization_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    invitation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    sealed: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, sealed=Sealed("link", ("hash",))
    )
    expires_at: Col[datetime] = col(Instant)
    used_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    session_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    address_sealed: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, sealed=Sealed("link", ("hash",))
    )  # the new address of a person who changes theirs


class LinkSlot(Row, table="identity.link_slot", kind=Kind.BEARER, key=("hash",)):
    """The newest link of an address and a purpose, where only the newest works (IDN-10)."""

    hash: Col[bytes] = col(Hash)
    link_hash: Col[bytes] = col(Hash)
