"""The card of a person that other members see: name, address, and whether a factor is ready.

It is written only from the person's side: by the person's own act, from the person's own account.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from thenga.domains.identity.services.accounts import accounts
from thenga.domains.identity.services.accounts.names import account_key
from thenga.domains.identity.tables import Membership, UserAccount, UserStatus
from thenga.kernel.access.actors import Scope
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import RuleViolated


@dataclass(frozen=True)
class Standing:
    """What the rules of belonging must know of an account; shown to nobody."""

    user_id: UUID
    is_active: bool
    staff: bool
    email_key: bytes
    account: UserAccount


@asynccontextmanager
async def opened_for(read: Reader, user_id: UUID) -> AsyncIterator[Reader]:
    """A short read for one person alone, beside what this unit of work is for."""
    opened = Reader(read.host, "identity", Scope(actor=read.actor, user_id=user_id), read.origin)
    try:
        yield opened
    finally:
        await opened.close()


async def account_standing(read: Reader, user_id: UUID) -> Standing | None:
    """What is to be known of an account, whoever asks; None where there is none."""
    async with opened_for(read, user_id) as theirs:
        account = await theirs.find(UserAccount, id=user_id)
    return None if account is None else _standing(read, account)


def _standing(read: Reader, account: UserAccount) -> Standing:
    return Standing(
        user_id=account.id,
        is_active=account.status is UserStatus.ACTIVE,
        staff=account.staff,
        email_key=account_key(read.host, account.email),
        account=account,
    )


def may_belong(one: Standing) -> None:
    """Staff accounts hold no memberships (IDN-18)."""
    if one.staff:
        raise RuleViolated("An account of staff belongs to no organization.", rule="IDN-18")


def show(membership: Membership, one: Standing) -> None:
    """Write the card of the person who acts."""
    membership.display_name = one.account.display_name
    membership.email = one.account.email
    membership.email_key = one.email_key
    membership.aal2_ready = accounts.has_strong_factor(one.account)
