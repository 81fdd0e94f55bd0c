"""Accounts that can sign in: an address, a password, an open link, a second factor."""

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from uuid import UUID

import pyotp

from tests.factories.identity import Person, working
from thenga.domains.identity.services.accounts import accounts, names
from thenga.domains.identity.services.auth import _hashing, _links
from thenga.domains.identity.tables import (
    FactorKind,
    FactorStatus,
    LinkSlot,
    MfaFactor,
    OneTimeLink,
    Password,
    UserAccount,
    UserStatus,
)
from thenga.kernel.crypto import tokens
from thenga.kernel.db import sealed
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

PASSWORD = "wheel anvil mango thunder"
SECRET = b"12345678901234567890"  # of the vectors in IDN-11
MINUTES = timedelta(minutes=5)


@dataclass(frozen=True)
class Account:
    """Somebody who can sign in with `PASSWORD`."""

    user_id: UUID
    email: str

    @property
    def signing_in(self) -> dict[str, str]:
        return {"method": "password", "email": self.email, "password": PASSWORD}


def phc() -> str:
    """The password as it is hashed now; tests that are not about the price pay a small one."""
    return _phc(_hashing._HASHER.memory_cost)


@cache
def _phc(memory_cost: int) -> str:
    return _hashing._HASHER.hash(PASSWORD)


async def account(
    host: Host,
    *,
    status: UserStatus = UserStatus.ACTIVE,
    password: bool = True,
    staff: bool = False,
) -> Account:
    """An address with an account, by the service that makes them."""
    email = f"{new_id().hex}@example.test"
    work = working(host)
    made = await accounts.add_user(
        work,
        names.account_key(host, email),
        email=email,
        display_name="Sipho Dlamini",
        locale="en-ZA",
        staff=staff,
    )
    if status is not UserStatus.PENDING_VERIFICATION:
        held = await work.lock(UserAccount, made.id)
        held.status, held.email_verified_at = status, work.now
        await accounts.save_user(work, held)
    if password and status is not UserStatus.PENDING_VERIFICATION:
        await work.add(Password(user_id=made.id, phc=phc()))
    await work.finish()
    return Account(made.id, email)


async def link(host: Host, who: Account, *, purpose: str) -> str:
    """The open link of that purpose, without the letter."""
    text = tokens.mint(tokens.Prefix.LINK)
    key, digest = names.account_key(host, who.email), tokens.digest(text)
    work = working(host, user_id=who.user_id)
    slot = _links._slot(key, purpose)
    await work.present(slot)
    await work.add(LinkSlot(hash=slot, link_hash=digest))
    await work.present(digest)
    await work.add(
        OneTimeLink(
            hash=digest,
            purpose=purpose,
            account_key=key,
            user_id=who.user_id,
            expires_at=work.now + MINUTES,
            address_sealed=sealed.seal(
                host, OneTimeLink, "address_sealed", f"new.{who.email}".encode(), hash=digest
            ),
        )
    )
    await work.finish()
    return text


async def totp(
    host: Host,
    who: Person | Account,
    *,
    status: FactorStatus = FactorStatus.ACTIVE,
    secret: bytes = SECRET,
) -> tuple[MfaFactor, str]:
    """A factor of a person, and the code that it shows now."""
    work = working(host, user_id=who.user_id)
    factor = MfaFactor(
        id=new_id(),
        user_id=who.user_id,
        kind=FactorKind.TOTP,
        label="Authenticator",
        status=status,
        expires_at=work.now + MINUTES if status is FactorStatus.PENDING else None,
    )
    factor.secret_sealed = sealed.seal(host, MfaFactor, "secret_sealed", secret, id=factor.id)
    await work.add(factor)
    if status is FactorStatus.ACTIVE:
        held = await work.lock(UserAccount, who.user_id)
        held.factor_kinds = ["totp"]
        await work.save(held)
    await work.finish()
    return factor, code_at(work.now, secret)


async def use_codes(host: Host, who: Account, count: int) -> None:
    """As if so many recovery codes had been used long ago, the first ones."""
    work = working(host, user_id=who.user_id)
    await work.run(
        "UPDATE identity.recovery_code SET used_at = $2 WHERE user_id = $1 AND id IN "
        "(SELECT id FROM identity.recovery_code WHERE user_id = $1 ORDER BY id LIMIT $3)",
        *(who.user_id, work.now, count),
    )
    await work.finish()


def code_at(now: datetime, secret: bytes = SECRET) -> str:
    """What an authenticator app shows at that moment."""
    return pyotp.TOTP(base64.b32encode(secret).decode()).at(now)
