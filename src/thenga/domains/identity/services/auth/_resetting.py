"""A forgotten password: a link to the address, a new password, and every session ends."""

from thenga.domains.identity.services import accounts, sessions
from thenga.domains.identity.services.accounts import account_key, find_account
from thenga.domains.identity.services.auth import _counting, _hashing, _links
from thenga.domains.identity.tables import Password, UserAccount, UserStatus
from thenga.kernel.db.work import Work


async def ask_reset(work: Work, *, email: str) -> None:
    """Send a link where there is an account; where there is none the same work (IDN-52)."""
    key = account_key(work.host, email)
    found = await find_account(work, key)
    known = found.account is not None and found.account.status is UserStatus.ACTIVE
    purpose = _links.RESET if known else _links.NOBODY
    await _links.send(work, key, purpose=purpose, user_id=found.user_id)


async def confirm_reset(work: Work, *, token: str, new_password: str) -> None:
    """Set the password by the link; a thief who is signed in is signed out (IDN-4)."""
    account = await _links.account_of(work, token, purposes=[_links.RESET])
    phc = await _hashing.hashed(new_password, known=[account.display_name, account.email])
    await _links.spend(work, token, purposes=[_links.RESET])
    held = await work.lock(UserAccount, account.id)
    if held.status is not UserStatus.ACTIVE:
        raise _links.LinkSpent()
    await set_password(work, held, phc)
    await _counting.unlock(work, held)
    await accounts.save_user(work, held)
    await sessions.end_all_sessions(work, held.id, cause="password_reset")


async def change_password(work: Work, *, new_password: str) -> UserAccount:
    """The signed-in person sets another password; their other sessions end."""
    async with work.separate_reader() as read:
        account = await read.get(UserAccount, read.user_id)
    phc = await _hashing.hashed(new_password, known=[account.display_name, account.email])
    held = await work.lock(UserAccount, account.id)
    await set_password(work, held, phc)
    await sessions.end_all_sessions(
        work, held.id, cause="password_changed", but=work.actor.session_id
    )
    return held


async def set_password(work: Work, account: UserAccount, phc: str) -> None:
    """Keep the hash of a password, the person's first or another."""
    if await work.find(Password) is None:
        await work.add(Password(user_id=account.id, phc=phc))
        return
    password = await work.lock_by(Password)
    password.phc = phc
    await work.save(password)
