"""Accounts as rows: each change is also written on the card that staff find an account by."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity.services.accounts import names
from thenga.domains.identity.tables import (
    Membership,
    MembershipStatus,
    SignInName,
    UserAccount,
    UserStatus,
)
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id

STRONG_FACTORS = ("totp", "passkey")  # recovery codes alone do not count
_CARD = """
    INSERT INTO identity.account_card (id, created_at, updated_at, version, organization_id,
        user_id, account_key, email, display_name, status, staff, email_verified_at, locked_until,
        last_sign_in_at)
    VALUES ($1, $2, $3, 1, $4, $1, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (organization_id, user_id) DO UPDATE SET updated_at = excluded.updated_at,
        version = identity.account_card.version + 1, account_key = excluded.account_key,
        email = excluded.email, display_name = excluded.display_name, status = excluded.status,
        staff = excluded.staff, email_verified_at = excluded.email_verified_at,
        locked_until = excluded.locked_until, last_sign_in_at = excluded.last_sign_in_at
"""
# What colleagues see of a person is written from the person's side only.
_MEMBER_CARDS = """
    UPDATE identity.membership SET display_name = $2, email = $3, email_key = $4, aal2_ready = $5,
        updated_at = $6, version = version + 1
    WHERE user_id = $1 AND status <> 'removed'
        AND (display_name, email, email_key, aal2_ready) IS DISTINCT FROM ($2, $3, $4, $5)
"""


async def add_user(
    work: Work, key: bytes, *, email: str, display_name: str, locale: str, staff: bool = False
) -> UserAccount:
    """A new account that waits for its address to be proved; the address is taken from now on."""
    user_id = new_id()
    await take_name(work, key, user_id)
    await work.switch_scope(user_id=user_id)
    account = await work.add(
        UserAccount(
            id=user_id,
            user_id=user_id,
            email=email,
            display_name=display_name,
            locale=locale,
            time_zone="Africa/Johannesburg",
            status=UserStatus.PENDING_VERIFICATION,
            staff=staff,
        )
    )
    await _write_card(work, account)
    return account


async def take_name(work: Work, key: bytes, user_id: UUID) -> None:
    """From now on this address is that person's; a name that somebody gave up is used again."""
    await work.present(key)
    given_up = await work.find(SignInName, hash=key)
    if given_up is None:
        await work.add(SignInName(hash=key, user_id=user_id))
        return
    name = await work.lock_by(SignInName, hash=key)
    name.user_id, name.ended_at = user_id, None
    await work.save(name)


async def save_user(work: Work, account: UserAccount) -> UserAccount:
    """Write a changed account and its card."""
    before = account.version
    saved = await work.save(account)
    if saved.version != before:
        await _write_card(work, saved)
        await _show_to_colleagues(work, saved)
    return saved


async def is_member(read: Reader, user_id: UUID, organization_id: UUID) -> bool:
    """Whether the person of this work is an active member there; seen from the person's side."""
    statement = select(Membership.id).where(
        Membership.organization_id == organization_id,
        Membership.user_id == user_id,
        Membership.status == MembershipStatus.ACTIVE,
    )
    return await read.value(statement) is not None


async def _show_to_colleagues(work: Work, account: UserAccount) -> None:
    """Let every organization of the person see the card as it is now."""
    await work.run(
        _MEMBER_CARDS,
        account.id,
        account.display_name,
        account.email,
        names.account_key(work.host, account.email),
        has_strong_factor(account),
        work.now,
    )


def has_strong_factor(account: UserAccount) -> bool:
    """Whether the person can prove more than a password."""
    return not set(STRONG_FACTORS).isdisjoint(account.factor_kinds)


async def _write_card(work: Work, account: UserAccount) -> None:
    await work.run(
        _CARD,
        account.id,
        account.created_at,
        work.now,
        OPERATOR,
        names.account_key(work.host, account.email),
        account.email,
        account.display_name,
        account.status.value,
        account.staff,
        account.email_verified_at,
        account.locked_until,
        account.last_sign_in_at,
    )
